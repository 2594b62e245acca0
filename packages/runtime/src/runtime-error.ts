/** The base class of all errors of this package, and what several rooms say in theirs. */
import type { KubeObject } from '@reeve/kube'

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

/** The view was older than the cluster. Nothing was written; the next event updates the view. */
export class StaleViewError extends RuntimeError {
  override readonly name = 'StaleViewError'

  constructor(object: KubeObject, options?: ErrorOptions) {
    super('STALE_VIEW', `${describeObject(object)} changed since it was last read; it is reconciled again`, options)
  }
}

/** Names an object for people: `Deployment shop/web`. */
export function describeObject(object: Pick<KubeObject, 'kind' | 'metadata'>): string {
  const { namespace, name = '' } = object.metadata
  return `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}
