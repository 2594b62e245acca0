/** A logger that keeps what an operator logs about failures. */
import { isApiError } from '@reeve/kube'
import type { Logger } from '@reeve/runtime'

/** Errors of the API that a correct operator may get and repeat: not found, already exists, conflict, expired. */
const HARMLESS_STATUSES: ReadonlySet<number> = new Set([404, 409, 410])

/** How the API refuses a JSON patch that does not fit the object anymore, such as one whose `test` fails. */
const OUTDATED_PATCH = /the server rejected our request due to an error in our request/

/** What a signal aborts with: a stop, or a stream that was silent for too long. */
const ABORTS: ReadonlySet<string> = new Set(['AbortError', 'TimeoutError'])

/** One line about a failure. */
export interface LoggedFailure {
  /** Whether the level is `error`; lines of a lower level have an error as a field. */
  readonly isError: boolean
  /** The message, with the reason if there is one. */
  readonly message: string
}

/**
 * Calls `onFailure` for each line at level `error`, and for each line of a lower level that has an error as its field
 * `err` or `error`, unless that is one that a retry resolves.
 */
export function failureLogger(onFailure: (failure: LoggedFailure) => void): Logger {
  const lower = (fields: object, message: string) => {
    const error = errorIn(fields)
    if (error !== undefined && !isHarmless(error)) onFailure({ isError: false, message: text(message, error) })
  }
  const logger: Logger = {
    debug: lower,
    info: lower,
    warn: lower,
    error: (fields, message) => onFailure({ isError: true, message: text(message, errorIn(fields)) }),
    child: () => logger,
  }
  return logger
}

/** Whether a correct operator may get this response, and repeats the request. */
export function isHarmlessResponse(status: number, message: string): boolean {
  return HARMLESS_STATUSES.has(status) || (status === 422 && OUTDATED_PATCH.test(message))
}

function errorIn(fields: object): unknown {
  const { err, error = err } = fields as { readonly err?: unknown; readonly error?: unknown }
  return error ?? undefined
}

function isHarmless(error: unknown): boolean {
  return (
    (isApiError(error) && isHarmlessResponse(error.status, error.message)) ||
    (error instanceof Error && ABORTS.has(error.name))
  )
}

function text(message: string, error: unknown): string {
  if (error === undefined) return message
  return `${message}: ${error instanceof Error ? error.message : String(error)}`
}
