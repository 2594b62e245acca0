/** Metrics of the requests a client sends to the API server. */
import type { Metrics } from './registry.ts'

/** What is used of the report that the client's request hook gets. */
export interface ObservedRequest {
  readonly verb: string
  readonly method: string
  /** Absent when no response arrived. */
  readonly status?: number
  readonly durationMs: number
}

/**
 * A hook for `createClient({ onRequest })` that counts and times every request.
 *
 * Declares `rest_client_requests_total{code,method,host}` and `rest_client_request_duration_seconds{verb,host}`.
 * `code` is `<error>` when no response arrived. Paths and names stay out of the labels: they are unbounded.
 *
 * @param host of the API server, as a label: one value per client
 *
 * @example
 * const client = createClient({ config, onRequest: clientMetrics(metrics, 'kubernetes.default.svc') })
 */
export function clientMetrics(metrics: Metrics, host: string): (request: ObservedRequest) => void {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status code and method.',
    labels: ['code', 'method', 'host'],
  })
  const durations = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Duration of requests to the API server; for a watch until it was open.',
    labels: ['verb', 'host'],
  })
  return ({ status, method, verb, durationMs }) => {
    requests.inc({ code: status ?? '<error>', method, host })
    durations.observe({ verb, host }, durationMs / 1_000)
  }
}
