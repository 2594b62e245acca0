/** One run of a scenario in its own world: undisturbed to learn the expected state, or disturbed to compare with it. */
import { Judge } from '../judge/judge.ts'
import { type Problem, problem } from '../judge/problem.ts'
import type { OperatorUnderTest, Scenario, Step } from '../operator-under-test.ts'
import type { Disturbance } from '../world/disturbance.ts'
import { createWorld, type World } from '../world/world.ts'
import { baselineOf, type Counts, countsOf, repeatedWrites } from './baseline.ts'
import { Comparison } from './comparison.ts'
import type { RunControl, ScenarioRun, ScenarioRunOptions } from './run-options.ts'
import { Settling } from './settling.ts'
import { Supervisor } from './supervisor.ts'
import { act, deleteAll, perform } from './user-actions.ts'

/** Creations of one object that a race between the garbage collector and an operator may add. */
const EXTRA_CREATES_IN_REAL_TIME = 2

/**
 * Runs the scenario once. The world is closed on return; its log remains.
 *
 * *Errors*: the reason of the signal of a world in real time.
 */
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
    numbering: options.expected?.numbering,
  })
  try {
    const run = await new Run(world, operator, scenario, options).run()
    // What failed because the run was interrupted says nothing.
    operator.realTime?.signal?.throwIfAborted()
    return run
  } finally {
    await world.close()
  }
}

class Run {
  readonly #world: World
  readonly #operator: OperatorUnderTest
  readonly #scenario: Scenario
  readonly #options: ScenarioRunOptions
  readonly #supervisor: Supervisor
  readonly #problems: Problem[] = []
  readonly #comparison: Comparison
  readonly #settling: Settling
  /** Of the scenario, without the deletion of everything that may follow. */
  #counts: Counts | undefined
  #tookEffect = false
  #step: Step | undefined
  #isEnded = false
  /** Faults so far, and what prepared or ended them. */
  #notes = 0

  constructor(world: World, operator: OperatorUnderTest, scenario: Scenario, options: ScenarioRunOptions) {
    this.#world = world
    this.#operator = operator
    this.#scenario = scenario
    this.#options = options
    this.#comparison = new Comparison(world, operator, options)
    this.#settling = new Settling(world, this.#comparison, options, (found) => this.#problems.push(found))
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
    await world.install(this.#operator)
    await act(world, (user) => this.#operator.prepare?.(user))
    await disturbance.onStart?.()
    const judge = new Judge(world, this.#operator)
    for (let replica = 0; replica < replicas; replica++) this.#supervisor.start()
    await this.#play(judge, disturbance)
    await this.#outlastStops()
    this.#problems.push(...judge.foreignChanges())
    if (expected !== undefined && countsWrites)
      this.#problems.push(
        ...repeatedWrites(countsOf(world), expected, {
          extraCreates,
          // In real time, how often an object is created again after a deletion differs between two good runs.
          racingCreates: world.pace.isExact ? 0 : EXTRA_CREATES_IN_REAL_TIME,
          extraDeletes,
          extraRemovals,
        }),
      )
    return {
      problems: this.#problems,
      differences: this.#settling.differences,
      endStates: this.#settling.differences.length === 0 ? [] : this.#comparison.endStates,
      world,
      baseline: baselineOf(world, this.#operator, {
        snapshots: this.#settling.snapshots,
        durationsMs: this.#settling.durationsMs,
        longestPauseMs: this.#settling.longestPauseMs,
        ...(this.#counts ?? countsOf(world)),
      }),
      tookEffect: this.#tookEffect,
    }
  }

  /** The steps, as far as they lead somewhere. */
  async #play(judge: Judge, disturbance: Disturbance): Promise<void> {
    if (!(await this.#settling.begin(this.#operator.crds[0]?.name))) return
    judge.beginSteps()
    const steps = this.#options.endsEmpty ? [...this.#scenario.steps, deleteAll] : this.#scenario.steps
    for (const [index, step] of steps.entries()) {
      if (this.#isEnded && step !== deleteAll) continue
      if (step === deleteAll) this.#counts = countsOf(this.#world)
      this.#step = step
      this.#world.record(0, 'step', step.name)
      this.#comparison.beginStep(step.name)
      const failed = await perform(this.#world, this.#operator, step)
      if (failed !== undefined) {
        this.#problems.push(failed)
        return
      }
      await disturbance.onActed?.(index)
      const isSettled = await this.#settling.settle(index, `after the step "${step.name}"`)
      if (this.#options.expected === undefined)
        this.#problems.push(...judge.errors(step), ...(isSettled && this.#isJudged(step) ? judge.goals(step) : []))
      if (!isSettled) return
      if (await this.#isStruckAtEnd(index, disturbance)) {
        if (!(await this.#settling.settle(index, `after the fault that followed the step "${step.name}"`))) return
      }
      if (this.#options.expected === undefined) this.#problems.push(...judge.leftBehind())
      if (!this.#isRest(step, index)) continue
      if (!(await this.#settling.outlastFault(index))) return
      const isAtRest = await this.#settling.rest(this.#expectedErrors(step))
      if (this.#options.expected === undefined) this.#problems.push(...judge.errors(step))
      if (!isAtRest) return
    }
  }

  /** In real time a run may be over before it is known whether an instance obeys the stop signal. */
  async #outlastStops(): Promise<void> {
    const { isExact, lookMs } = this.#world.pace
    while (!isExact && this.#supervisor.isStopping && (await this.#settling.pass(lookMs)));
  }

  /** A step that was ended early does not reach its goal. */
  #isJudged(step: Step): boolean {
    return !this.#isEnded || step === deleteAll
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
      end: () => {
        this.#isEnded = true
        return this.#step
      },
      problem: (kind, message) => this.#problems.push(problem(kind, message)),
    }
  }

  #fault(text: string, lastsMs = 0): void {
    this.#tookEffect = true
    this.#note(text, lastsMs)
  }

  #note(text: string, lastsMs?: number): void {
    this.#settling.disturbed(lastsMs)
    this.#notes += 1
    this.#world.record(0, 'fault', text)
  }

  #expectedErrors(step: Step): readonly RegExp[] {
    return [...(this.#operator.expectedErrors ?? []), ...(step.expectedErrors ?? [])]
  }

  #isRest(step: Step, index: number): boolean {
    if (this.#options.rests === false) return false
    // An operator that cannot reach its goal may keep trying.
    const restsAlways = (this.#options.restsAlways ?? false) && (step.goal ?? 'settled') === 'settled'
    return restsAlways || (step.rest ?? false) || index >= this.#scenario.steps.length - 1
  }
}
