/** One run of a scenario in its own world: undisturbed to learn the expected state, or disturbed to compare with it. */
import { setImmediate } from 'node:timers/promises'
import { SimulatedTimeError } from '@reeve/runtime/testing'
import type { Difference } from '../compare/difference.ts'
import type { Snapshot } from '../compare/snapshot.ts'
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import { Judge } from '../judge/judge.ts'
import { type Problem, problem } from '../judge/problem.ts'
import type { OperatorUnderTest, Scenario, Step } from '../operator-under-test.ts'
import type { Disturbance } from '../world/disturbance.ts'
import { isBookkeeping } from '../world/request-facts.ts'
import { createWorld, type World } from '../world/world.ts'
import { baselineOf, type Counts, countsOf, repeatedWrites, VOLATILE } from './baseline.ts'
import { Comparison } from './comparison.ts'
import { Rest } from './rest.ts'
import type { RunControl, ScenarioRun, ScenarioRunOptions } from './run-options.ts'
import { Supervisor } from './supervisor.ts'

/** Runs the scenario once. The world is closed on return; its log remains. */
export async function runScenario(
  operator: OperatorUnderTest,
  scenario: Scenario,
  options: ScenarioRunOptions,
): Promise<ScenarioRun> {
  const { seed, limits, startMs } = options
  const world = await createWorld({
    seed,
    operator,
    ...(limits && { limits }),
    ...(startMs !== undefined && { startMs }),
  })
  try {
    return await new Run(world, operator, scenario, options).run()
  } finally {
    await world.close()
  }
}

/** Event loop turns that an act may take before time passes: everything happens in this process. */
const TURNS_OF_AN_ACT = 20

class Run {
  readonly #world: World
  readonly #operator: OperatorUnderTest
  readonly #scenario: Scenario
  readonly #options: ScenarioRunOptions
  readonly #supervisor: Supervisor
  readonly #problems: Problem[] = []
  readonly #snapshots: Snapshot[] = []
  readonly #durationsMs: number[] = []
  readonly #comparison: Comparison
  /** Of the scenario, without the deletion of everything that may follow. */
  #counts: Counts | undefined
  #differences: readonly Difference[] = []
  #tookEffect = false
  /** From now on the run is no longer the undisturbed one. */
  #isDisturbed = false
  /** Faults so far, and what prepared or ended them. */
  #notes = 0
  #faultEndsMs = 0
  #lastWriteMs = 0

  constructor(world: World, operator: OperatorUnderTest, scenario: Scenario, options: ScenarioRunOptions) {
    this.#world = world
    this.#operator = operator
    this.#scenario = scenario
    this.#options = options
    this.#comparison = new Comparison(world, operator, options)
    this.#supervisor = new Supervisor(world, operator, {
      election: options.election ?? false,
      mayFail: options.mayFail ?? false,
      onProblem: (found) => this.#problems.push(found),
      onFault: (text, isFault) => (isFault ? this.#fault(text) : this.#note(text)),
    })
  }

  async run(): Promise<ScenarioRun> {
    const world = this.#world
    const { expected, replicas = 1, extraCreates = 0, extraDeletes = 1, countsWrites = true } = this.#options
    const { extraRemovals = Number.POSITIVE_INFINITY } = this.#options
    const disturbance = this.#options.disturb?.(this.#control()) ?? {}
    world.disturb(disturbance)
    world.cluster.api.subscribe(({ resource }) => {
      if (!VOLATILE.has(resource) && !isBookkeeping(resource)) this.#lastWriteMs = world.elapsedMs
    })
    await world.install(this.#operator)
    await this.#act((user) => this.#operator.prepare?.(user))
    await disturbance.onStart?.()
    const judge = new Judge(world, this.#operator)
    for (let replica = 0; replica < replicas; replica++) this.#supervisor.start()
    await this.#play(judge, disturbance)
    this.#problems.push(...judge.foreignChanges())
    if (expected !== undefined && countsWrites)
      this.#problems.push(...repeatedWrites(countsOf(world), expected, { extraCreates, extraDeletes, extraRemovals }))
    return {
      problems: this.#problems,
      differences: this.#differences,
      world,
      baseline: baselineOf(world, this.#operator, {
        snapshots: this.#snapshots,
        durationsMs: this.#durationsMs,
        ...(this.#counts ?? countsOf(world)),
      }),
      tookEffect: this.#tookEffect,
    }
  }

  /** The steps, as far as they lead somewhere. */
  async #play(judge: Judge, disturbance: Disturbance): Promise<void> {
    if (!(await this.#pass(1_000))) return
    judge.beginSteps()
    const steps = this.#options.endsEmpty ? [...this.#scenario.steps, deleteAll] : this.#scenario.steps
    for (const [index, step] of steps.entries()) {
      if (step === deleteAll) this.#counts = countsOf(this.#world)
      this.#world.record(0, 'step', step.name)
      this.#comparison.beginStep(step.name)
      if (!(await this.#perform(step))) return
      await disturbance.onActed?.(index)
      const isSettled = await this.#settle(index, `after the step "${step.name}"`)
      if (this.#options.expected === undefined)
        this.#problems.push(...judge.errors(step), ...(isSettled ? judge.goals(step) : []))
      if (!isSettled) return
      if (await this.#isStruckAtEnd(index, disturbance)) {
        if (!(await this.#settle(index, `after the fault that followed the step "${step.name}"`))) return
      }
      if (this.#options.expected === undefined) this.#problems.push(...judge.leftBehind())
      if (!this.#isRest(step, index)) continue
      if (!(await this.#outlastFault(index))) return
      const isAtRest = await this.#rest(step)
      if (this.#options.expected === undefined) this.#problems.push(...judge.errors(step))
      if (!isAtRest) return
    }
  }

  /** Whether something was done after a step. Only then time passes again: a look must not move what follows. */
  async #isStruckAtEnd(index: number, disturbance: Disturbance): Promise<boolean> {
    const before = this.#notes
    await disturbance.onStepEnd?.(index)
    return this.#notes > before
  }

  #control(): RunControl {
    return {
      world: this.#world,
      crash: (instance) => this.#supervisor.crash(instance),
      replace: (instance) => this.#supervisor.crash(instance, false),
      stop: (instance) => this.#supervisor.stop(instance),
      fault: (text, lastsMs) => this.#fault(text, lastsMs),
      note: (text) => this.#note(text),
      problem: (kind, message) => this.#problems.push(problem(kind, message)),
    }
  }

  /** Runs an action of a user. Time passes only when the act waits for it. */
  async #act(action: (user: World['user']) => Promise<unknown> | undefined): Promise<void> {
    const { clock, user } = this.#world
    let isOver = false
    const acting = Promise.resolve(this.#world.asUser(() => action(user))).finally(() => {
      isOver = true
    })
    // Awaited below; until then a failure must not be unhandled.
    acting.catch(() => undefined)
    for (let turn = 0; turn < TURNS_OF_AN_ACT && !isOver; turn++) await setImmediate()
    await (isOver ? acting : clock.runToCompletion(acting))
  }

  /** Runs a step; false when it fails, as when an object should be deleted and is not. */
  async #perform(step: Step): Promise<boolean> {
    try {
      await this.#act((user) => (step === deleteAll ? this.#deleteDeclared() : step.act(user)))
      return true
    } catch (error) {
      // What the operator is to blame for is something that the cluster or the outside world rejects.
      const message = error instanceof Error ? error.message : String(error)
      this.#problems.push(problem('step-failed', `the step "${step.name}" failed: ${message}`))
      return false
    }
  }

  async #deleteDeclared(): Promise<void> {
    const { client } = this.#world.user
    for (const { name: resource } of this.#operator.crds) {
      for (const object of this.#world.cluster.api.list(resource)) {
        const { namespace, name, deletionTimestamp } = object.metadata as {
          readonly namespace?: string
          readonly name: string
          readonly deletionTimestamp?: string
        }
        if (deletionTimestamp !== undefined) continue
        const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string }
        const key = { name, ...(namespace !== undefined && { namespace }) }
        await client.delete(await client.resourceFor({ apiVersion, kind }), key)
      }
    }
  }

  /** There is no rest during a fault. */
  async #outlastFault(index: number): Promise<boolean> {
    const leftMs = this.#faultEndsMs - this.#world.elapsedMs
    if (leftMs <= 0) return true
    return (await this.#pass(leftMs)) && this.#settle(index, 'after the fault ended')
  }

  /** Advances the clock; false when the run will never end. */
  async #pass(ms: number): Promise<boolean> {
    let excess: string | undefined
    try {
      await this.#world.clock.advance(ms)
    } catch (error) {
      if (!(error instanceof SimulatedTimeError)) throw error
      excess = error.message
    }
    excess ??= this.#world.excess
    if (excess !== undefined) this.#problems.push(problem('runaway', excess))
    return excess === undefined
  }

  #fault(text: string, lastsMs = 0): void {
    this.#tookEffect = true
    this.#faultEndsMs = Math.max(this.#faultEndsMs, this.#world.elapsedMs + lastsMs)
    this.#note(text)
  }

  #note(text: string): void {
    this.#isDisturbed = true
    this.#notes += 1
    this.#world.record(0, 'fault', text)
  }

  /** True when the state is as expected and stays so. */
  #settle(index: number, when: string): Promise<boolean> {
    const { expected, comparesFrom = 0 } = this.#options
    const snapshot = expected?.snapshots[index]
    if (expected === undefined) return this.#becomeQuiet(index, when)
    if (snapshot === undefined || index < comparesFrom) return this.#pass(EXPLORATION_DEFAULTS.quietMs)
    return this.#agree(snapshot, expected.durationsMs[index] ?? 0, when)
  }

  /** Waits until the state is that of the undisturbed run. */
  async #agree(expected: Snapshot, usualMs: number, when: string): Promise<boolean> {
    const { lookMs, patienceMs } = EXPLORATION_DEFAULTS
    let agreed = 0
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.#pass(lookMs))) return false
      // Up to the fault the run is the undisturbed one, request by request: it must also take the same time.
      if (!this.#isDisturbed && waitedMs + lookMs < usualMs) continue
      const agrees = this.#comparison.differencesFrom(expected).length === 0
      agreed = agrees && this.#world.running.length > 0 ? agreed + 1 : 0
      const isQuiet = this.#world.elapsedMs - this.#lastWriteMs >= lookMs
      if (isQuiet && agreed > (this.#isDisturbed ? 1 : 0)) return true
    }
    this.#differences = this.#comparison.differencesFrom(expected)
    const late = `${patienceMs / 60_000} minutes ${when}`
    this.#problems.push(
      this.#differences.length > 0
        ? problem(
            'state-differs',
            `the disturbed and the undisturbed run still differ ${late}: one of the two is wrong`,
          )
        : problem('not-settled', `the state does not settle within ${late}`),
    )
    return false
  }

  /** The undisturbed run: waits until nothing is written for a while, and records the state. */
  async #becomeQuiet(index: number, when: string): Promise<boolean> {
    const { quietMs, lookMs, patienceMs } = EXPLORATION_DEFAULTS
    this.#lastWriteMs = this.#world.elapsedMs
    for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
      if (!(await this.#pass(lookMs))) return false
      if (this.#world.elapsedMs - this.#lastWriteMs < quietMs) continue
      this.#snapshots[index] = this.#comparison.snapshot()
      this.#durationsMs[index] = waitedMs + lookMs
      return true
    }
    this.#snapshots[index] = this.#comparison.snapshot()
    const late = `${patienceMs / 60_000} minutes ${when}`
    this.#problems.push(problem('not-settled', `undisturbed, objects are still written ${late}`))
    return false
  }

  #isRest(step: Step, index: number): boolean {
    if (this.#options.rests === false) return false
    // An operator that cannot reach its goal may keep trying.
    const restsAlways = (this.#options.restsAlways ?? false) && (step.goal ?? 'settled') === 'settled'
    return restsAlways || (step.rest ?? false) || index >= this.#scenario.steps.length - 1
  }

  /** Time without a reason to write: nothing may be written, and nothing may change. */
  async #rest(step: Step): Promise<boolean> {
    const { restMs = EXPLORATION_DEFAULTS.restMs } = this.#options
    // A recorded time that passes during the rest, such as an expiry, is not a change.
    const beginMs = this.#world.clock.now()
    const before = this.#comparison.snapshot(beginMs)
    const rest = new Rest(this.#world, restMs)
    const hasPassed = await rest.pass(() => this.#pass(restMs))
    if (!hasPassed) return false
    const found = rest.problems([...(this.#operator.expectedErrors ?? []), ...(step.expectedErrors ?? [])])
    this.#problems.push(...found)
    const changed = this.#comparison.differencesFrom(before, beginMs)
    if (changed.length > 0) {
      this.#differences = changed
      this.#problems.push(problem('activity-at-rest', `the state changed during ${rest.duration} of rest`))
    }
    return found.length === 0
  }
}

/** Stands for the deletion of everything declared by then. */
const deleteAll: Step = { name: 'delete everything that is declared', act: () => Promise.resolve() }
