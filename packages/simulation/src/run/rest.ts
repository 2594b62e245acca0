/** Time in which there is nothing to do: what an operator does then, it does for nothing. */
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { type Problem, problem } from '../judge/problem.ts'
import type { SeamRequest } from '../world/disturbance.ts'
import { describeRequest, EVENTS, LEASES } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Reads in an hour, or in less: one a minute is a slow poll, more is a loop that has lost its brake. */
const MAX_READS_PER_HOUR = 60

/** Reconciles in a minute: one every ten seconds is a fast poll of what is in memory. */
const MAX_RECONCILES_PER_MINUTE = 6

const FAILED_OUTCOMES = new Set(['error', 'terminal', 'timeout', 'conflict'])

/** One rest. */
export class Rest {
  readonly #world: World
  readonly #restMs: number
  readonly #requestsBefore: number
  readonly #reconcilesBefore: number
  readonly #writesBefore: number

  constructor(world: World, restMs: number) {
    this.#world = world
    this.#restMs = restMs
    this.#requestsBefore = world.log.requestsAtRest.length
    this.#reconcilesBefore = this.#reconciles().length
    this.#writesBefore = world.log.writes.length
  }

  /** `10 minutes`, `10 hours`. */
  get duration(): string {
    return this.#world.pace.describe(this.#restMs)
  }

  /** Marks the time that passes as a rest. */
  async pass(wait: () => Promise<boolean>): Promise<boolean> {
    const { log } = this.#world
    log.isResting = true
    try {
      return await wait()
    } finally {
      log.isResting = false
    }
  }

  /** @param expectedErrors errors that reconciles may end with */
  problems(expectedErrors: readonly RegExp[]): readonly Problem[] {
    const requests = this.#world.log.requestsAtRest.slice(this.#requestsBefore)
    const reconciles = this.#reconciles().slice(this.#reconcilesBefore)
    const failed = reconciles.filter(({ outcome }) => FAILED_OUTCOMES.has(outcome))
    const unexpected = failed.filter(({ error = '' }) => !expectedErrors.some((pattern) => pattern.test(error)))
    // Requests of a reconcile that is expected to fail count only if they have an effect.
    const isTrying = failed.length > unexpected.length
    const writes = (isTrying ? this.#committed() : requests.filter(({ isWrite }) => isWrite)).filter(
      (request) => !this.#isLastEvent(request),
    )
    const reads = requests.filter(({ isWrite }) => !isWrite)
    const found: string[] = []
    if (writes.length > 0) {
      const examples = [...new Set(writes.map(describeRequest))].slice(0, 3).join(', ')
      found.push(`${writes.length} writes in ${this.duration} of rest: ${examples}`)
    }
    if (reads.length > MAX_READS_PER_HOUR * Math.max(1, this.#restMs / HOUR_MS))
      found.push(`${reads.length} reads in ${this.duration} of rest`)
    if (reconciles.length > (MAX_RECONCILES_PER_MINUTE * this.#restMs) / MINUTE_MS)
      found.push(`${reconciles.length} reconciles in ${this.duration} of rest`)
    const [first] = unexpected
    if (first !== undefined)
      found.push(`${unexpected.length} reconciles failed in ${this.duration} of rest: ${first.error}`)
    return found.map((message) => problem('activity-at-rest', message))
  }

  /** An instance that exits writes its remaining events; an event has no effect on others. */
  #isLastEvent({ resource, instance }: SeamRequest): boolean {
    const writer = this.#world.instances.find(({ number }) => number === instance)
    return EVENTS.has(resource) && writer?.end !== undefined
  }

  #committed(): readonly SeamRequest[] {
    return this.#world.log.writes.slice(this.#writesBefore).filter(({ resource }) => resource !== LEASES)
  }

  #reconciles(): readonly ReconcileRecord[] {
    return this.#world.instances.flatMap(({ reconciles }) => reconciles)
  }
}
