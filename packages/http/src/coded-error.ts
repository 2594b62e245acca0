/** Errors that callers tell apart by a code. */

/** Base class of the errors of a package. Its codes are stable, in the style of Node.js: `HTTP_CONNECTION`. */
export abstract class CodedError<Code extends string = string> extends Error {
  /** For callers and dashboards, which never decide by the message. */
  abstract readonly code: Code
}

/**
 * The code of an error, ours or one of Node.js.
 *
 * @example
 * if (codeOf(error) === 'ENOENT') return undefined
 */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
