/** Waits in a run until its state settles: as in the undisturbed run, or until nothing is written for a while. */
import { SimulatedTimeError } from '@reeve/http/testing'
import type { Difference } from '../compare/difference.ts'
import type { Snapshot } from '../compare/snapshot.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import { type Problem, problem } from '../judge/problem.ts'
import { describeRequest, isBookkeeping, LEASES, mostFrequent } from '../world/request-facts.ts'
import type { World } from '../world/world.ts'
import { VOLATILE } from './baseline.ts'
import type { Comparison } from './comparison.ts'
import { Rest } from './rest.ts'
import type { ScenarioRunOptions } from './run-options.ts'

/** The time of one run. */
export class Settling {
  readonly snapshots: Snapshot[] = []
  /** How long each step took. */
  readonly durationsMs: number[] = []
  readonly #world: World
  readonly #comparison: Comparison
  readonly #options: ScenarioRunOptions
  readonly #onProblem: (found: Problem) => void
  #differences: readonly Difference[] = []
  /** From now on the run is no longer the undisturbed one. */
  #isDisturbed = false
  #faultEndsMs = 0
  #lastWriteMs = 0
  #longestPauseMs = 0
  #isBecomingQuiet = false

  constructor(world: World, comparison: Comparison, options: ScenarioRunOptions, onProblem: (found: Problem) => void) {
    this.#world = world
    this.#comparison = comparison
    this.#options = options
    this.#onProblem = onProblem
    world.cluster.api.subscribe(({ resource }) => {
      if (VOLATILE.has(resource) || isBookkeeping(resource)) return
      // What a user writes at the beginning of a step ends no pause of the operator.
      if (this.#isBecomingQuiet)
        this.#longestPauseMs = Math.max(this.#longestPauseMs, world.elapsedMs - this.#lastWriteMs)
      this.#lastWriteMs = world.elapsedMs
    })
  }

  /** How the state differs from what it should be, after it did not settle or did not stay. */
  get differences(): readonly Difference[] {
    return this.#differences
  }

  /** The longest time in which nothing was written although more was to come: a shorter silence says nothing. */
  get longestPauseMs(): number {
    return this.#longestPauseMs
  }

  /** Waits until the operator, a process that starts in its own time, watches what users declare. */
  async begin(resource: string | undefined): Promise<boolean> {
    const world = this.#world
    const { lookMs, patienceMs, isExact } = world.pace
    if (isExact || resource === undefined) return this.pass(1_000)
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.pass(lookMs))) return false
      const reads = world.log.requests.filter((request) => request.resource === resource)
      // One that does not watch lists again and again.
      if (reads.some(({ verb }) => verb === 'watch') || reads.filter(({ verb }) => verb === 'list').length > 1)
        return true
    }
    this.#onProblem(
      problem(
        'not-settled',
        `the operator neither watches ${resource} nor lists them repeatedly within ${world.pace.describe(patienceMs)}`,
      ),
    )
    return false
  }

  /** A fault takes effect, for `lastsMs`, or something prepares or ends it. */
  disturbed(lastsMs = 0): void {
    this.#isDisturbed = true
    this.#faultEndsMs = Math.max(this.#faultEndsMs, this.#world.elapsedMs + lastsMs)
  }

  /** There is no rest during a fault. */
  async outlastFault(index: number): Promise<boolean> {
    const leftMs = this.#faultEndsMs - this.#world.elapsedMs
    if (leftMs <= 0) return true
    return (await this.pass(leftMs)) && this.settle(index, 'after the fault ended')
  }

  /** Advances the clock; false when the run will never end. */
  async pass(ms: number): Promise<boolean> {
    let excess: string | undefined
    try {
      await this.#world.clock.advance(ms)
    } catch (error) {
      if (!(error instanceof SimulatedTimeError)) throw error
      excess = error.message
    }
    excess ??= this.#world.excess
    if (excess !== undefined) this.#onProblem(problem('runaway', excess))
    return excess === undefined
  }

  /** True when the state is as expected and stays so. */
  settle(index: number, when: string): Promise<boolean> {
    const { expected, comparesFrom = 0 } = this.#options
    const snapshot = expected?.snapshots[index]
    if (expected === undefined) return this.#becomeQuiet(index, when)
    if (snapshot === undefined || index < comparesFrom) return this.pass(this.#world.pace.quietMs)
    const pauseMs = this.#world.pace.isExact ? 0 : expected.longestPauseMs
    return this.#agree(snapshot, expected.durationsMs[index] ?? 0, pauseMs, when)
  }

  /** Waits until the state is that of the undisturbed run. */
  async #agree(expected: Snapshot, usualMs: number, pauseMs: number, when: string): Promise<boolean> {
    const { lookMs, patienceMs, isExact } = this.#world.pace
    let agreed = 0
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.pass(lookMs))) return false
      // Up to the fault the run is the undisturbed one, request by request: it must also take the same time.
      if (isExact && !this.#isDisturbed && waitedMs + lookMs < usualMs) continue
      const agrees = this.#comparison.differencesFrom(expected).length === 0
      agreed = agrees && this.#world.running.length > 0 ? agreed + 1 : 0
      const isQuiet = this.#world.elapsedMs - this.#lastWriteMs >= Math.max(lookMs, pauseMs)
      if (isQuiet && agreed > (isExact && !this.#isDisturbed ? 0 : 1)) return true
    }
    this.#differences = this.#comparison.differencesFrom(expected)
    const late = `${this.#world.pace.describe(patienceMs)} ${when}`
    this.#onProblem(
      this.#differences.length > 0
        ? problem(
            'state-differs',
            `the disturbed and the undisturbed run still differ ${late}: one of the two is wrong`,
          )
        : problem('not-settled', `the state does not settle within ${late}${this.#recentWrites()}`),
    )
    return false
  }

  /** The undisturbed run: waits until nothing is written for a while, and records the state. */
  async #becomeQuiet(index: number, when: string): Promise<boolean> {
    const { quietMs, lookMs, patienceMs } = this.#world.pace
    this.#lastWriteMs = this.#world.elapsedMs
    this.#isBecomingQuiet = true
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.pass(lookMs))) return false
      if (this.#world.elapsedMs - this.#lastWriteMs < quietMs) continue
      this.#isBecomingQuiet = false
      this.snapshots[index] = this.#comparison.snapshot()
      this.durationsMs[index] = waitedMs + lookMs
      return true
    }
    this.snapshots[index] = this.#comparison.snapshot()
    const late = `${this.#world.pace.describe(patienceMs)} ${when}`
    this.#onProblem(problem('not-settled', `undisturbed, objects are still written ${late}${this.#recentWrites()}`))
    return false
  }

  /** What keeps a state from settling; empty when it is not the operator that writes. */
  #recentWrites(): string {
    const { log, elapsedMs, pace } = this.#world
    const recent = log.managedWrites.filter(({ atMs }) => atMs > elapsedMs - pace.quietMs)
    return recent.length === 0 ? '' : `, most often: ${mostFrequent(recent.map(describeRequest))}`
  }

  /** A rest with a lease is short: renewals are requests, too. Replicas that share their work hold one even alone. */
  get #usualRestMs(): number {
    const hasLease = this.#world.log.writes.some(({ resource }) => resource === LEASES)
    return hasLease ? EXPLORATION_DEFAULTS.electedRestMs : EXPLORATION_DEFAULTS.restMs
  }

  /** Time without a reason to write: nothing may be written, and nothing may change. */
  async rest(expectedErrors: readonly RegExp[]): Promise<boolean> {
    const { pace } = this.#world
    const restMs = pace.rest(this.#options.restMs ?? this.#usualRestMs)
    // A recorded time that passes during the rest, such as an expiry, is not a change.
    const beginMs = this.#world.clock.now()
    const before = this.#comparison.snapshot(beginMs)
    const rest = new Rest(this.#world, restMs)
    const hasPassed = await rest.pass(() => this.pass(restMs))
    if (!hasPassed) return false
    const found = rest.problems(expectedErrors)
    for (const one of found) this.#onProblem(one)
    const changed = this.#comparison.differencesFrom(before, beginMs)
    if (changed.length > 0) {
      this.#differences = changed
      this.#onProblem(problem('activity-at-rest', `the state changed during ${rest.duration} of rest`))
    }
    return found.length === 0
  }
}
