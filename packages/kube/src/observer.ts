/** Tells metrics and logs what a client does, without ever handing out what it sends or receives. */
import type { Verb } from './request-target.ts'
import { describeTarget, type RequestTarget } from './request-target.ts'

/** One try of a request. Holds names and numbers only: no headers, no query, no body. */
export interface RequestReport extends RequestTarget {
  readonly verb: Verb
  readonly method: string
  /** HTTP status; absent when no response arrived. */
  readonly status?: number
  /** Until the whole answer was read; for a watch until it was open. */
  readonly durationMs: number
  /** 0 for the first try. */
  readonly attempt: number
  /** Code of the error, if it was one of this package's. */
  readonly errorCode?: string
}

/** A `Warning` header: deprecated versions, unknown fields, remarks of admission webhooks. */
export interface ServerWarning {
  readonly text: string
  readonly target: RequestTarget
}

/** What the client needs of a logger; pino and the runtime's logger satisfy it. */
export interface ClientLogger {
  debug(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** Who wants to know. */
export interface ObserverOptions {
  readonly onRequest?: (report: RequestReport) => void
  readonly onWarning?: (warning: ServerWarning) => void
  readonly logger?: ClientLogger
}

/** A deprecated version warns on every single request; each text is logged once, for this many texts. */
const MAX_REMEMBERED_WARNINGS = 256

/** Fans out to hooks and logger. A hook that throws is reported and ignored: telling must not break doing. */
export class ClientObserver {
  readonly #options: ObserverOptions
  readonly #loggedWarnings = new Set<string>()

  constructor(options: ObserverOptions) {
    this.#options = options
  }

  /** A try has ended. */
  requested(report: RequestReport): void {
    this.#options.logger?.debug(report, 'sent api request')
    this.#guard(() => this.#options.onRequest?.(report))
  }

  /** A try failed and another one follows after `delayMs`. */
  retrying(target: RequestTarget, error: unknown, attempt: number, delayMs: number): void {
    const message = error instanceof Error ? error.message : 'unknown'
    this.#options.logger?.warn({ ...target, error: message, attempt, delayMs }, 'retrying api request')
  }

  /** The server sent a warning along with its answer. */
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
      this.#options.logger?.warn({ error: message }, 'client hook failed')
    }
  }
}
