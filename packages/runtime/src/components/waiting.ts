/** How a component says that it waits. */

/** Something is not available yet. Not a failure. */
export class Waiting {
  /** What is missing, to complete "waiting for …". */
  readonly what: string
  /** When to reconcile again although no watched object changes. */
  readonly requeueAfterMs: number | undefined

  constructor(what: string, requeueAfterMs: number | undefined) {
    this.what = what
    this.requeueAfterMs = requeueAfterMs
  }
}

/**
 * Says that a component has to wait. Its objects stay as they are, components that need it wait as well, all others
 * continue. A change of a watched object reconciles again; give `requeueAfterMs` for what no watch shows.
 *
 * @example
 * if (addresses.length === 0) return waiting('the address of the gateway Service')
 */
export function waiting(what: string, options: { readonly requeueAfterMs?: number } = {}): Waiting {
  return new Waiting(what, options.requeueAfterMs)
}

/** Facts to continue with although they could not be refreshed. */
export class Fallback<Facts> {
  readonly facts: Facts
  readonly failure: Error

  constructor(facts: Facts, failure: Error) {
    this.facts = facts
    this.failure = failure
  }
}

/**
 * Says that a component failed to resolve its facts and continues with those it had: it renders, and components that need it
 * continue. The failure still counts: it is reported, and the reconcile is retried.
 *
 * @example
 * return known === undefined ? Promise.reject(error) : fallback({ client: known }, error)
 */
export function fallback<Facts>(facts: Facts, failure: Error): Fallback<Facts> {
  return new Fallback(facts, failure)
}
