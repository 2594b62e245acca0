/** The one way for a component to say "not yet". */

/** Something is missing that comes with time. Not a failure. */
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
 * Says that a component cannot go on yet. Its objects stay as they are, what needs it waits too, everything else goes
 * on. A change of a watched object reconciles again; give `requeueAfterMs` for what no watch shows.
 *
 * @example
 * if (addresses.length === 0) return waiting('the address of the gateway Service')
 */
export function waiting(what: string, options: { readonly requeueAfterMs?: number } = {}): Waiting {
  return new Waiting(what, options.requeueAfterMs)
}

/** Facts to go on with although they could not be refreshed. */
export class Fallback<Facts> {
  readonly facts: Facts
  readonly failure: Error

  constructor(facts: Facts, failure: Error) {
    this.facts = facts
    this.failure = failure
  }
}

/**
 * Says that a component failed to resolve its facts and goes on with those it had: it renders, and what needs it goes
 * on. The failure still counts: it is reported, and the reconcile is retried.
 *
 * @example
 * return known === undefined ? Promise.reject(error) : fallback({ client: known }, error)
 */
export function fallback<Facts>(facts: Facts, failure: Error): Fallback<Facts> {
  return new Fallback(facts, failure)
}
