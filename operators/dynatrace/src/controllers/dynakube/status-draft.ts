/** The status of a DynaKube while a pass works on it. It is written once, at the end, and only when it differs. */
import type { Clock } from '@reeve/kube'
import { type Condition, getCondition, removeCondition, setCondition } from '@reeve/runtime'
import { apiRequestThresholdMs } from '../../api/dynakube/environment-facts.ts'
import type { DynaKube, DynaKubeStatus } from '../../api/latest.ts'

/** A DynaKube that has a status. */
export type WithStatus = DynaKube & { readonly status: DynaKubeStatus }

/** Collects what a pass finds out. */
export class StatusDraft {
  readonly #dynakube: DynaKube
  readonly #clock: Pick<Clock, 'now'>
  #status: DynaKubeStatus

  constructor(dynakube: DynaKube, clock: Pick<Clock, 'now'>) {
    this.#dynakube = dynakube
    this.#clock = clock
    this.#status = dynakube.status ?? {}
  }

  /** The DynaKube with the status as it is known by now. */
  get dynakube(): WithStatus {
    return { ...this.#dynakube, status: this.#status }
  }

  get status(): DynaKubeStatus {
    return this.#status
  }

  /** Changes the given members and keeps the others. */
  update(change: Partial<DynaKubeStatus>): void {
    this.#status = { ...this.#status, ...change }
  }

  /** Changes members of the OneAgent part. */
  updateOneAgent(change: Partial<NonNullable<DynaKubeStatus['oneAgent']>>): void {
    if (isChange(this.#status.oneAgent, change)) {
      this.update({ oneAgent: unlessEmpty({ ...this.#status.oneAgent, ...change }) })
    }
  }

  /** Changes members of the ActiveGate part. */
  updateActiveGate(change: Partial<NonNullable<DynaKubeStatus['activeGate']>>): void {
    if (isChange(this.#status.activeGate, change)) {
      this.update({ activeGate: unlessEmpty({ ...this.#status.activeGate, ...change }) })
    }
  }

  condition(type: string): Condition | undefined {
    return getCondition(this.#conditions, type)
  }

  /**
   * Sets a condition; the time of its last change moves only when the status does.
   *
   * @param observedGeneration of the DynaKube that the condition is about, where that is told
   */
  set(type: string, status: 'True' | 'False', reason: string, message = '', observedGeneration?: number): void {
    const observed = observedGeneration === undefined ? {} : { observedGeneration }
    this.#setConditions(setCondition(this.#conditions, { type, status, reason, message, ...observed }, this.#clock))
  }

  remove(...types: readonly string[]): void {
    let conditions = this.#conditions
    for (const type of types) conditions = removeCondition(conditions, type)
    if (conditions !== this.#conditions) this.#setConditions(conditions)
  }

  /**
   * Whether the environment may be asked again for what a condition stands for: it was never asked, the last answer was
   * a failure, or the last one is old enough. A missing scope is an answer, too.
   */
  isOutdated(type: string): boolean {
    const condition = this.condition(type)
    if (condition === undefined) return true
    if (condition.status === 'False' && condition.reason !== 'ScopeMissing') return true
    return Date.parse(condition.lastTransitionTime) + apiRequestThresholdMs(this.#dynakube) <= this.#clock.now()
  }

  get #conditions(): readonly Condition[] {
    // The schema leaves more open than is ever written.
    return (this.#status.conditions ?? []) as readonly Condition[]
  }

  #setConditions(conditions: readonly Condition[]): void {
    this.update({ conditions: conditions.map((condition) => ({ ...condition })) })
  }
}

/** What has no members any more goes: without its feature the status looks as if that had never been on. */
function unlessEmpty<T extends object>(part: T): T | undefined {
  return Object.values(part).every((value) => value === undefined) ? undefined : part
}

/** Taking away what is not there must not leave an empty part behind. */
function isChange(part: object | undefined, change: object): boolean {
  const before = new Map<string, unknown>(Object.entries(part ?? {}))
  return Object.entries(change).some(([name, value]) => before.get(name) !== value)
}
