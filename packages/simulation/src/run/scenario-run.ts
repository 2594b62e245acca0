/** One run of a scenario in a world of its own: undisturbed to learn what is right, or disturbed to compare with it. */
import { SimulatedTimeError } from '@reeve/runtime/testing'
import { type Difference, differences } from './compare/difference.ts'
import { isSameSnapshot, type Snapshot, takeSnapshot } from './compare/snapshot.ts'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { OperatorUnderTest, Scenario, Step } from './operator-under-test.ts'
import type { Disturbance } from './world/disturbance.ts'
import type { RunningInstance } from './world/instance.ts'
import { describeRequest, isBookkeeping, LEASES } from './world/request-facts.ts'
import type { RunLimits } from './world/run-bounds.ts'
import { createWorld, type World } from './world/world.ts'

/** What is right: the undisturbed run. */
export interface Baseline {
  /** One per step, after all came to rest. */
  readonly snapshots: readonly Snapshot[]
  /** What the operator wrote, and what users declare. */
  readonly resources: ReadonlySet<string>
  /** How long each step took until all was quiet, in virtual milliseconds. */
  readonly durationsMs: readonly number[]
  readonly creates: ReadonlyMap<string, number>
  readonly deletes: ReadonlyMap<string, number>
  readonly managedWrites: number
}

/** What a pattern can do to the world of its run. */
export interface RunControl {
  readonly world: World
  /** Kills the instance now; another one starts a moment later. */
  crash(instance: number): void
  /** Tells the instance to stop; another one starts when it has. */
  stop(instance: number): void
  /** Notes a fault in the trace. A rest begins only after `lastsMs`: until then something may still be on its way. */
  fault(text: string, lastsMs?: number): void
  /** Notes that something is wrong which the end state alone would not show. */
  problem(message: string): void
}

/** Options of {@link runScenario}. */
export interface ScenarioRunOptions {
  readonly seed: number
  /** What the run must agree with; without it the run is the undisturbed one. */
  readonly expected?: Baseline
  readonly disturb?: (control: RunControl) => Disturbance
  /** Instances compete for a lease. @default false */
  readonly election?: boolean
  /** Instances that run side by side. @default 1 */
  readonly replicas?: number
  /** How long nothing may be written after a step to rest on. @default an hour */
  readonly restMs?: number
  /** Creations of one object beyond those of the undisturbed run. @default 0 */
  readonly extraCreates?: number
  /** The same for deletions: a deletion whose answer was lost is sent again. @default 1 */
  readonly extraDeletes?: number
  /** Whether instances may end by themselves, as one that lost its lease does. @default false */
  readonly mayFail?: boolean
  /** Only the last step must agree, not each one. @default false */
  readonly onlyLastStep?: boolean
  /** When a run that does not end is cut off; that is a problem of the run. @default see {@link RunLimits} */
  readonly limits?: RunLimits
}

/** What came of a run. */
export interface ScenarioRun {
  readonly problems: readonly string[]
  readonly differences: readonly Difference[]
  readonly world: World
  readonly baseline: Baseline
  /** Whether the fault happened at all. */
  readonly hasStruck: boolean
}

/** Runs the scenario once. The world is closed on return; its trace and counters remain. */
export async function runScenario(
  operator: OperatorUnderTest,
  scenario: Scenario,
  options: ScenarioRunOptions,
): Promise<ScenarioRun> {
  const run = new Run(operator, scenario, options)
  try {
    return await run.run()
  } finally {
    await run.close()
  }
}

class Run {
  readonly #operator: OperatorUnderTest
  readonly #scenario: Scenario
  readonly #options: ScenarioRunOptions
  readonly #problems: string[] = []
  readonly #snapshots: Snapshot[] = []
  #world: World | undefined
  #differences: readonly Difference[] = []
  readonly #durationsMs: number[] = []
  #restarts = 0
  #hasStruck = false
  #faultEndsMs = 0
  #lastWriteMs = 0

  constructor(operator: OperatorUnderTest, scenario: Scenario, options: ScenarioRunOptions) {
    this.#operator = operator
    this.#scenario = scenario
    this.#options = options
  }

  get world(): World {
    if (this.#world === undefined) throw new Error('the world does not exist before the run')
    return this.#world
  }

  async run(): Promise<ScenarioRun> {
    const { seed, disturb, replicas = 1, limits } = this.#options
    this.#world = await createWorld({ seed, operator: this.#operator, ...(limits && { limits }) })
    const { world } = this
    const disturbance = disturb?.({
      world,
      crash: (instance) => this.#crash(instance),
      stop: (instance) => this.#stop(instance),
      fault: (text, lastsMs) => this.#fault(text, lastsMs),
      problem: (message) => this.#problem(message),
    })
    if (disturbance !== undefined) world.disturb(disturbance)
    world.cluster.api.subscribe(({ resource }) => {
      if (!VOLATILE.has(resource) && !isBookkeeping(resource)) this.#lastWriteMs = world.elapsedMs
    })
    world.onInstanceEnd = (instance) => this.#onEnd(instance)
    await world.install(this.#operator)
    await this.#operator.prepare?.(world.user)
    for (let replica = 0; replica < replicas; replica++) this.#start()
    await this.#play(disturbance)
    if (this.#options.expected !== undefined) this.#compareCounts(this.#options.expected)
    return {
      problems: this.#problems,
      differences: this.#differences,
      world,
      baseline: this.#asBaseline(),
      hasStruck: this.#hasStruck,
    }
  }

  /** The steps, as far as they lead somewhere. */
  async #play(disturbance: Disturbance | undefined): Promise<void> {
    const { world } = this
    if (!(await this.#pass(1_000))) return
    for (const [index, step] of this.#scenario.steps.entries()) {
      world.record(0, 'step', step.name)
      await step.act(world.user)
      if (!(await this.#settle(index, `after the step "${step.name}"`))) return
      if (disturbance?.onStepEnd !== undefined) {
        await disturbance.onStepEnd(index)
        if (!(await this.#settle(index, `after the fault that followed the step "${step.name}"`))) return
      }
      if (!this.#isRest(step, index)) continue
      if (!(await this.#outlastFault(index)) || !(await this.#rest(index))) return
    }
  }

  /** A fault that goes on is no rest. */
  async #outlastFault(index: number): Promise<boolean> {
    const leftMs = this.#faultEndsMs - this.world.elapsedMs
    if (leftMs <= 0) return true
    return (await this.#pass(leftMs)) && this.#settle(index, 'after the fault ended')
  }

  /** Lets time pass; false when the run will never end. */
  async #pass(ms: number): Promise<boolean> {
    let excess: string | undefined
    try {
      await this.world.clock.advance(ms)
    } catch (error) {
      if (!(error instanceof SimulatedTimeError)) throw error
      excess = error.message
    }
    excess ??= this.world.excess
    if (excess !== undefined) this.#problem(excess)
    return excess === undefined
  }

  async close(): Promise<void> {
    await this.#world?.close()
  }

  #crash(number: number): void {
    const instance = this.#instance(number)
    if (instance === undefined || instance.isKilled) return
    this.#fault(`instance ${number} is killed`)
    instance.kill()
    this.#restart()
  }

  #stop(number: number): void {
    const instance = this.#instance(number)
    if (instance === undefined || instance.isKilled || instance.isStopping) return
    this.#fault(`instance ${number} is told to stop`)
    instance.stop()
    this.world.clock.schedule(EXPLORATION_DEFAULTS.stopMs, () => {
      if (instance.end === undefined)
        this.#problem(`instance ${number} runs ${EXPLORATION_DEFAULTS.stopMs} ms after the stop signal`)
    })
  }

  #fault(text: string, lastsMs = 0): void {
    this.#hasStruck = true
    this.#faultEndsMs = Math.max(this.#faultEndsMs, this.world.elapsedMs + lastsMs)
    this.world.record(0, 'fault', text)
  }

  #problem(message: string): void {
    this.#problems.push(message)
  }

  #instance(number: number): RunningInstance | undefined {
    return this.world.instances[number - 1]
  }

  #start(): void {
    this.world.start(this.#operator, { election: this.#options.election ?? false })
  }

  #restart(): void {
    this.world.clock.schedule(EXPLORATION_DEFAULTS.restartMs, () => this.#start())
  }

  #onEnd(instance: RunningInstance): void {
    const { end } = instance
    if (end?.type === 'failed') {
      if (!(this.#options.mayFail ?? false) || instance.isStopping) {
        this.#problem(`instance ${instance.number} ended with an error: ${end.error.message}`)
      }
      if (++this.#restarts > EXPLORATION_DEFAULTS.maxRestarts) {
        this.#problem(`the operator failed ${this.#restarts} times`)
        return
      }
    } else if (!instance.isStopping) this.#problem(`instance ${instance.number} ended without being told to`)
    else if (this.world.leaseHolder === instance.identity)
      this.#problem(`instance ${instance.number} ended without giving its lease back`)
    this.#restart()
  }

  /** True when the state is as it should be and stays so. */
  async #settle(index: number, when: string): Promise<boolean> {
    const expected = this.#options.expected?.snapshots[index]
    if (expected === undefined) return this.#becomeQuiet(index, when)
    if ((this.#options.onlyLastStep ?? false) && index < this.#scenario.steps.length - 1) {
      return this.#pass(EXPLORATION_DEFAULTS.quietMs)
    }
    const { lookMs, patienceMs } = EXPLORATION_DEFAULTS
    // Up to the fault the run is the undisturbed one, request by request: it must also take the same time.
    const usualMs = this.#options.expected?.durationsMs[index] ?? 0
    let agreed = 0
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.#pass(lookMs))) return false
      if (!this.#hasStruck && waitedMs + lookMs < usualMs) continue
      const agrees = isSameSnapshot(expected, this.#snapshot())
      agreed = agrees && this.world.running.length > 0 ? agreed + 1 : 0
      if ((agreed >= 2 || !this.#hasStruck) && agreed > 0 && this.world.elapsedMs - this.#lastWriteMs >= lookMs)
        return true
    }
    this.#differences = differences(expected, this.#snapshot())
    const why =
      this.#differences.length > 0 ? 'the state differs from the undisturbed run' : 'the state does not come to rest'
    this.#problem(`${why} ${patienceMs / 60_000} minutes ${when}`)
    return false
  }

  /** The undisturbed run: waits until nothing is written for a while, and remembers how things are. */
  async #becomeQuiet(index: number, when: string): Promise<boolean> {
    const { quietMs, lookMs, patienceMs } = EXPLORATION_DEFAULTS
    this.#lastWriteMs = this.world.elapsedMs
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.#pass(lookMs))) return false
      if (this.world.elapsedMs - this.#lastWriteMs < quietMs) continue
      this.#snapshots[index] = this.#snapshot()
      this.#durationsMs[index] = waitedMs + lookMs
      return true
    }
    this.#snapshots[index] = this.#snapshot()
    this.#problem(`undisturbed, the operator still writes ${patienceMs / 60_000} minutes ${when}`)
    return false
  }

  #isRest(step: Step, index: number): boolean {
    return (step.rest ?? false) || index === this.#scenario.steps.length - 1
  }

  /** Hours without a reason to write: nothing may be written, and nothing may change. */
  async #rest(index: number): Promise<boolean> {
    const { restMs = EXPLORATION_DEFAULTS.restMs } = this.#options
    const before = this.world.writes.filter(({ resource }) => resource !== LEASES).length
    const reads = this.world.readsAtRest
    this.world.isResting = true
    const hasPassed = await this.#pass(restMs)
    this.world.isResting = false
    if (!hasPassed) return false
    const late = this.world.writes.filter(({ resource }) => resource !== LEASES).slice(before)
    const hours = restMs / 3_600_000
    if (late.length > 0) {
      const examples = [...new Set(late.map(describeRequest))].slice(0, 3).join(', ')
      this.#problem(`${late.length} writes in ${hours} hours of rest: ${examples}`)
    }
    // One look a minute is a slow poll; more is a loop that has lost its brake.
    const readCount = this.world.readsAtRest - reads
    if (readCount > 60 * Math.max(1, hours)) this.#problem(`${readCount} reads in ${hours} hours of rest`)
    const expected = (this.#options.expected?.snapshots ?? this.#snapshots)[index]
    if (expected !== undefined && !isSameSnapshot(expected, this.#snapshot())) {
      this.#differences = differences(expected, this.#snapshot())
      this.#problem(`the state changed during ${hours} hours of rest`)
    }
    return late.length === 0
  }

  #snapshot(): Snapshot {
    const { cluster, outside, outsideWorld, foreign } = this.world
    const resources = this.#options.expected?.resources ?? everythingLasting(cluster)
    const others = this.world.countByObject('create').keys()
    const withoutForeign = foreign.without.bind(foreign)
    const scope = { resources, others, withoutForeign }
    return takeSnapshot(cluster, new Set([outside, outsideWorld]), this.#operator, scope)
  }

  #compareCounts(expected: Baseline): void {
    const { extraCreates = 0, extraDeletes = 1 } = this.#options
    this.#compareCount('create', expected.creates, extraCreates)
    this.#compareCount('delete', expected.deletes, extraDeletes)
    const limit = 2 * expected.managedWrites + 20
    const { length } = this.world.managedWrites
    if (length > limit) this.#problem(`${length} writes, ${expected.managedWrites} in the undisturbed run`)
  }

  #compareCount(what: 'create' | 'delete', expected: ReadonlyMap<string, number>, extra: number): void {
    for (const [id, count] of this.world.countByObject(what)) {
      const usual = expected.get(id) ?? 0
      if (count > usual + extra) this.#problem(`${what}d ${id} ${count} times, ${usual} in the undisturbed run`)
    }
  }

  #asBaseline(): Baseline {
    const declared = this.#operator.crds.map(({ name }) => name)
    const written = this.world.managedWrites.map(({ resource }) => resource)
    // Of pods and the like only those count that the operator made: see the scope of snapshots.
    const resources = new Set([...declared, ...written].filter((resource) => !VOLATILE.has(resource)))
    const creates = this.world.countByObject('create')
    const inScope = (id: string) =>
      id.startsWith('outside ') || creates.has(id) || resources.has(id.split(' ')[0] ?? '')
    return {
      snapshots: this.#snapshots.map((snapshot) => new Map([...snapshot].filter(([id]) => inScope(id)))),
      resources,
      durationsMs: this.#durationsMs,
      creates,
      deletes: this.world.countByObject('delete'),
      managedWrites: this.world.managedWrites.length,
    }
  }
}

function everythingLasting({ api }: World['cluster']): ReadonlySet<string> {
  const all = api.resources().map(({ resource }) => resource)
  return new Set(all.filter((resource) => !VOLATILE.has(resource) && !isBookkeeping(resource)))
}

/** What the cluster's own controllers make under random names, or touch for ever. */
const VOLATILE = new Set([
  'pods',
  'replicasets.apps',
  'controllerrevisions.apps',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'nodes',
  'customresourcedefinitions.apiextensions.k8s.io',
])
