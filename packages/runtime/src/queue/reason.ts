/** Why a key is in the queue: kept per key, bounded, and passed to the worker. */

/**
 * What adds a key to the queue: a watch event on an object (objects found at the start are added), or something else.
 */
export type ReasonEvent = 'added' | 'modified' | 'deleted' | 'resync' | 'retry' | 'requeue' | 'external'

/** One cause of a reconcile: which event on which object. */
export interface Reason {
  readonly event: ReasonEvent
  /** Kind of the object the event was on; absent if there is no object, as for a retry. */
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
}

/**
 * One line for logs and the console, such as `modified Deployment default/web`.
 *
 * @example
 * logger.debug({ reasons: request.reasons.map(describeReason) }, 'reconciling')
 */
export function describeReason(reason: Reason): string {
  const { event, kind, namespace, name } = reason
  if (kind === undefined) return event
  if (name === undefined) return `${event} ${kind}`
  return `${event} ${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/**
 * The distinct reasons of one key, the first `limit` of them; the rest is only counted. A key that collects
 * thousands of events while it waits must not hold thousands of reasons.
 */
export class ReasonSet {
  readonly #limit: number
  readonly #reasons = new Map<string, Reason>()
  #omitted = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(reason: Reason): void {
    const id = describeReason(reason)
    if (this.#reasons.has(id)) return
    if (this.#reasons.size < this.#limit) this.#reasons.set(id, reason)
    else this.#omitted++
  }

  /** In order of first arrival. */
  get reasons(): readonly Reason[] {
    return [...this.#reasons.values()]
  }

  /** How many further events were dropped. May count one reason several times. */
  get omitted(): number {
    return this.#omitted
  }
}
