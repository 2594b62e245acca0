/** Reports the requests of a client to metrics and logs, without their content. */
import type { ClientLogger } from './client-logger.ts'

/** One try of a call. Names and numbers only: no address, no header, no body. */
export interface RequestReport {
  /** Name of the call: one of a fixed few. */
  readonly call: string
  readonly method: string
  /** HTTP status; absent when no response arrived. */
  readonly status?: number
  readonly durationMs: number
  /** 0 for the first try. */
  readonly attempt: number
  /** Code of the error, if there was one. */
  readonly errorCode?: string
}

/** Is called for every attempt. */
export type RequestHook = (report: RequestReport) => void

/** Sends reports to the logger at `debug` and to the hook. */
export function reporter(logger: ClientLogger | undefined, hook: RequestHook | undefined): RequestHook {
  return (report) => {
    logger?.debug(report, 'sent request')
    hook?.(report)
  }
}
