/** Tells metrics and logs what a client does, without ever handing out what it sends or receives. */
import type { Logger, Metrics } from '@reeve/runtime'

/** One try of a call. Names and numbers only: no address, no header, no body. */
export interface RequestReport {
  /** Name of the call: one of a fixed few. */
  readonly call: string
  readonly method: string
  /** HTTP status; absent when no answer arrived. */
  readonly status?: number
  readonly durationMs: number
  /** 0 for the first try. */
  readonly attempt: number
  /** Code of the error, if there was one. */
  readonly errorCode?: string
}

/** Wants to know of every try. */
export type RequestHook = (report: RequestReport) => void

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

/** Sends reports to the logger at `debug` and to the hook. */
export function reporter(logger: Logger, hook: RequestHook | undefined): RequestHook {
  return (report) => {
    logger.debug(report, 'sent environment request')
    hook?.(report)
  }
}
