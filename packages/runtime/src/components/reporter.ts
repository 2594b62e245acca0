/** Assembles the status of a resource from the reports of its components. */
import type { Clock } from '@reeve/http'
import type { Stored } from '@reeve/kube'
import type { Occurrence } from '../events/event-series.ts'
import {
  type Condition,
  type ConditionState,
  getCondition,
  removeCondition,
  setCondition,
} from '../status/condition.ts'
import type { Reportable } from './component.ts'

/** The status of a resource, without `undefined`. */
export type StatusOf<Primary extends Reportable> = NonNullable<Primary['status']>

/**
 * Takes reports and merges them into the status. The engine writes it once, at the end of a reconcile, and only when it
 * differs; events are recorded after it.
 */
export class Reporter<Primary extends Reportable> {
  readonly #object: Stored<Primary>
  readonly #clock: Pick<Clock, 'now'>
  readonly #events: Occurrence[] = []
  #status: Primary['status']

  constructor(object: Stored<Primary>, clock: Pick<Clock, 'now'>) {
    this.#object = object
    this.#clock = clock
    this.#status = object.status
  }

  /** The resource with the status reported so far. */
  get primary(): Stored<Primary> {
    return this.#status === this.#object.status ? this.#object : { ...this.#object, status: this.#status }
  }

  get status(): Primary['status'] {
    return this.#status
  }

  /** What was reported with {@link Reporter.event}. */
  get events(): readonly Occurrence[] {
    return this.#events
  }

  /** Replaces the whole status. */
  replace(status: Primary['status']): void {
    this.#status = status
  }

  /** Changes the given members and keeps the others. */
  update(change: Partial<StatusOf<Primary>>): void {
    // A status without some of its members is one that is not complete yet.
    this.#status = { ...(this.#status as object | undefined), ...change } as Primary['status']
  }

  condition(type: string): Condition | undefined {
    return getCondition(this.#conditions, type)
  }

  /** Sets a condition; the time of its last transition moves only when its status does. */
  setCondition(state: ConditionState): void {
    this.#setConditions(setCondition(this.#conditions, state, this.#clock))
  }

  removeConditions(...types: readonly string[]): void {
    const conditions = types.reduce<readonly Condition[]>(removeCondition, this.#conditions)
    this.#setConditions(conditions)
  }

  /** Records an event about the resource once the status is written. */
  event(occurrence: Occurrence): void {
    this.#events.push(occurrence)
  }

  get #conditions(): readonly Condition[] {
    // A component that reports conditions has them in the schema of the status.
    return (this.#status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? NONE
  }

  #setConditions(conditions: readonly Condition[]): void {
    if (conditions === this.#conditions) return
    this.#status = { ...(this.#status as object | undefined), conditions } as Primary['status']
  }
}

const NONE: readonly Condition[] = []
