/** The one base class of the errors this package throws. */

/**
 * Something the runtime could not do. `code` is stable: callers decide by it (or by the subclass), never by the
 * message.
 *
 * @example
 * if (error instanceof RuntimeError && error.code === 'NOT_LEADER') return
 */
export class RuntimeError extends Error {
  override readonly name: string = 'RuntimeError'
  readonly code: string

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * Makes the error for the case that something inside the runtime takes longer than it may.
 *
 * @example
 * using deadline = new Deadline(5_000, { clock, onTimeout: overdue('closing the server', 5_000) })
 */
export function overdue(what: string, timeoutMs: number): () => RuntimeError {
  return () => new RuntimeError('DEADLINE', `${what} took longer than ${timeoutMs} ms`)
}
