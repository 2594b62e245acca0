/** Reports the requests of a client to metrics and logs, without the data that it sends or receives. */
import type { ClientLogger } from '@reeve/http'
import { isConnectionError } from './error-predicates.ts'
import { describeTarget, type RequestTarget, type Verb } from './request-target.ts'

/** One attempt of a request. Contains names and numbers only: no headers, no query, no body. */
export interface RequestReport extends RequestTarget {
  readonly verb: Verb
  readonly method: string
  /** HTTP status; absent when no response arrived. */
  readonly status?: number
  /** Until the whole response was read; for a watch until it was open. */
  readonly durationMs: number
  /** 0 for the first attempt. */
  readonly attempt: number
  /** Code of the error, if it is one of this package. */
  readonly errorCode?: string
}

/** A `Warning` header: deprecated versions, unknown fields, remarks of admission webhooks. */
export interface ServerWarning {
  readonly text: string
  readonly target: RequestTarget
}

/** Hooks and logger. */
export interface ObserverOptions {
  readonly onRequest?: (report: RequestReport) => void
  readonly onWarning?: (warning: ServerWarning) => void
  readonly logger?: ClientLogger
}

/** A deprecated version causes a warning for every request; each text is logged once, up to this many texts. */
const MAX_REMEMBERED_WARNINGS = 256

/** Forwards to hooks and logger. A hook that throws is reported and ignored: observers must not break requests. */
export class ClientObserver {
  readonly #options: ObserverOptions
  readonly #loggedWarnings = new Set<string>()

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  /** An attempt has ended. */
  requested(report: RequestReport): void {
    this.#options.logger?.debug(report, 'sent api request')
    this.#guard(() => this.#options.onRequest?.(report))
  }

  /** An attempt failed and is retried after `delayMs`. */
  retrying(target: RequestTarget, error: unknown, attempt: number, delayMs: number): void {
    const message = error instanceof Error ? error.message : 'unknown'
    // That the server is unreachable is reported once, for all requests.
    const level = isConnectionError(error) ? 'debug' : 'warn'
    this.#options.logger?.[level]({ ...target, err: message, attempt, delayMs }, 'retrying api request')
  }

  /** The response contains a warning. */
  warned(target: RequestTarget, text: string): void {
    if (this.#options.onWarning) {
      this.#guard(() => this.#options.onWarning?.({ text, target }))
      return
    }
    if (this.#loggedWarnings.has(text)) return
    if (this.#loggedWarnings.size >= MAX_REMEMBERED_WARNINGS) this.#loggedWarnings.clear()
    this.#loggedWarnings.add(text)
    this.#options.logger?.warn({ request: describeTarget(target), warning: text }, 'api server warning')
  }

  #guard(hook: () => void): void {
    try {
      hook()
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#options.logger?.warn({ err: message }, 'client hook failed')
    }
  }
}
