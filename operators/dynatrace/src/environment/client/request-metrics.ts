/** Counts and times what the clients of Dynatrace and of registries send. */
import type { RequestHook } from '@reeve/http'
import type { Metrics } from '@reeve/runtime/metrics'

/**
 * A hook that counts and times calls: `environment_requests_total{call,code}` and
 * `environment_request_duration_seconds{call}`. `code` is `<error>` when no answer arrived.
 *
 * @example
 * const client = createEnvironmentClient({ apiUrl, apiToken, onRequest: environmentMetrics(metrics) })
 */
export function environmentMetrics(metrics: Metrics): RequestHook {
  const requests = metrics.counter({
    name: 'environment_requests_total',
    help: 'Requests to Dynatrace and to registries by call and status code.',
    labels: ['call', 'code'],
  })
  const durations = metrics.histogram({
    name: 'environment_request_duration_seconds',
    help: 'Duration of requests to Dynatrace and to registries.',
    labels: ['call'],
  })
  return ({ call, status, durationMs }) => {
    requests.inc({ call, code: status ?? '<error>' })
    durations.observe({ call }, durationMs / 1_000)
  }
}
