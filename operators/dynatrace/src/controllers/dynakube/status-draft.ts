/** Reports on a DynaKube in its own words; the engine assembles the status and writes it once, when it differs. */
import type { Clock, Stored } from '@reeve/kube'
import { type Condition, Reporter } from '@reeve/runtime'
import { apiRequestThresholdMs } from '../../api/dynakube/tenant-facts.ts'
import type { DynaKube, DynaKubeStatus } from '../../api/latest.ts'

/** A DynaKube that has a status. */
export type WithStatus = DynaKube & { readonly status: DynaKubeStatus }

/** What a component reports. */
export class StatusDraft {
  readonly #reporter: Reporter<DynaKube>
  readonly #clock: Pick<Clock, 'now'>

  constructor(reporter: Reporter<DynaKube>, clock: Pick<Clock, 'now'>) {
    this.#reporter = reporter
    this.#clock = clock
  }

  /** The report on a DynaKube that no engine reconciles. */
  static of(dynakube: DynaKube, clock: Pick<Clock, 'now'>): StatusDraft {
    // Nothing of what a server adds is looked at.
    return new StatusDraft(new Reporter(dynakube as Stored<DynaKube>, clock), clock)
  }

  /** The DynaKube with the status as it is known by now. */
  get dynakube(): WithStatus {
    return { ...this.#reporter.primary, status: this.status }
  }

  get status(): DynaKubeStatus {
    return this.#reporter.status ?? {}
  }

  /** Changes the given members and keeps the others. */
  update(change: Partial<DynaKubeStatus>): void {
    this.#reporter.update(change)
  }

  /** Changes members of the OneAgent part. */
  updateOneAgent(change: Partial<NonNullable<DynaKubeStatus['oneAgent']>>): void {
    if (isChange(this.status.oneAgent, change)) {
      this.update({ oneAgent: unlessEmpty({ ...this.status.oneAgent, ...change }) })
    }
  }

  /** Changes members of the ActiveGate part. */
  updateActiveGate(change: Partial<NonNullable<DynaKubeStatus['activeGate']>>): void {
    if (isChange(this.status.activeGate, change)) {
      this.update({ activeGate: unlessEmpty({ ...this.status.activeGate, ...change }) })
    }
  }

  condition(type: string): Condition | undefined {
    return this.#reporter.condition(type)
  }

  /**
   * Sets a condition; the time of its last change moves only when the status does.
   *
   * @param observedGeneration of the DynaKube that the condition is about, where that is told
   */
  set(type: string, status: 'True' | 'False', reason: string, message = '', observedGeneration?: number): void {
    const observed = observedGeneration === undefined ? {} : { observedGeneration }
    this.#reporter.setCondition({ type, status, reason, message, ...observed })
  }

  remove(...types: readonly string[]): void {
    this.#reporter.removeConditions(...types)
  }

  /**
   * Whether the tenant may be asked again for what a condition stands for: it was never asked, the last answer was
   * a failure, or the last one is old enough. A missing scope is an answer, too.
   */
  isOutdated(type: string): boolean {
    const condition = this.condition(type)
    if (condition === undefined) return true
    if (condition.status === 'False' && condition.reason !== 'ScopeMissing') return true
    return Date.parse(condition.lastTransitionTime) + apiRequestThresholdMs(this.dynakube) <= this.#clock.now()
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
