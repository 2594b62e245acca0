/** Counts and times what the clients of Dynatrace and of registries send. */
import type { RequestHook } from '@reeve/http'
import type { Metrics } from '@reeve/runtime/metrics'

/**
 * A hook that counts and times calls: `tenant_requests_total{call,code}` and
 * `tenant_request_duration_seconds{call}`. `code` is `<error>` when no response arrived.
 *
 * @example
 * const client = createTenantClient({ apiUrl, apiToken, onRequest: tenantMetrics(metrics) })
 */
export function tenantMetrics(metrics: Metrics): RequestHook {
  const requests = metrics.counter({
    name: 'tenant_requests_total',
    help: 'Requests to Dynatrace and to registries by call and status code.',
    labels: ['call', 'code'],
  })
  const durations = metrics.histogram({
    name: 'tenant_request_duration_seconds',
    help: 'Duration of requests to Dynatrace and to registries.',
    labels: ['call'],
  })
  return ({ call, status, durationMs }) => {
    requests.inc({ call, code: status ?? '<error>' })
    durations.observe({ call }, durationMs / 1_000)
  }
}
