/** Starts the instances of a run, kills and stops them, and starts others in their place, as a kubelet does. */
import { EXPLORATION_DEFAULTS } from '../defaults.ts'
import { type Problem, problem } from '../judge/problem.ts'
import type { OperatorUnderTest } from '../operator-under-test.ts'
import type { RunningInstance } from '../world/instance.ts'
import type { World } from '../world/world.ts'

/** How instances live. */
export interface SupervisorOptions {
  /** They compete for a lease. */
  readonly election: boolean
  /** They may end by themselves, as one that lost its lease does. */
  readonly mayFail: boolean
  readonly onProblem: (problem: Problem) => void
  /** Called for each death and each stop; `isFault` when that is what is tried. */
  readonly onFault: (text: string, isFault: boolean) => void
}

/** The instances of one run. */
export class Supervisor {
  readonly #world: World
  readonly #operator: OperatorUnderTest
  readonly #options: SupervisorOptions
  /** Those that got the stop signal less than half a minute ago. */
  readonly #stopping: RunningInstance[] = []
  #failures = 0
  /** One that cannot start fails again and again for the same reason: that is said once. */
  readonly #errors = new Set<string>()

  constructor(world: World, operator: OperatorUnderTest, options: SupervisorOptions) {
    this.#world = world
    this.#operator = operator
    this.#options = options
    world.onInstanceEnd = (instance) => this.#onEnd(instance)
  }

  start(): void {
    this.#world.start(this.#operator, { election: this.#options.election })
  }

  /** Kills an instance now; another one starts a moment later. */
  crash(number: number, isFault = true): void {
    const instance = this.#world.instances[number - 1]
    if (instance === undefined || instance.isKilled || instance.end !== undefined) return
    this.#options.onFault(`instance ${number} is killed`, isFault)
    instance.kill()
    this.#restart()
  }

  /** Sends the stop signal to an instance; another one starts when it has. */
  stop(number: number): void {
    const instance = this.#world.instances[number - 1]
    if (instance === undefined || instance.isKilled || instance.isStopping || instance.end !== undefined) return
    this.#options.onFault(`instance ${number} gets the stop signal`, true)
    instance.stop()
    const { stopMs } = EXPLORATION_DEFAULTS
    this.#stopping.push(instance)
    this.#world.clock.schedule(this.#world.pace.ofOperator(stopMs), () => {
      if (this.#isStillStopping(instance))
        this.#problem(`instance ${number} still runs ${stopMs / 1_000} s after the stop signal`)
      this.#stopping.splice(this.#stopping.indexOf(instance), 1)
    })
  }

  /** Whether an instance got the stop signal, may still take its time, and has not ended. */
  get isStopping(): boolean {
    return this.#stopping.some((instance) => this.#isStillStopping(instance))
  }

  #isStillStopping(instance: RunningInstance): boolean {
    return instance.end === undefined && !instance.isKilled && !this.#world.isClosed
  }

  #restart(): void {
    this.#world.clock.schedule(EXPLORATION_DEFAULTS.restartMs, () => {
      if (!this.#world.isClosed) this.start()
    })
  }

  #onEnd(instance: RunningInstance): void {
    const { end, number } = instance
    if (end?.type === 'failed') {
      const { message } = end.error
      if ((!this.#options.mayFail || instance.isStopping) && !this.#errors.has(message)) {
        this.#errors.add(message)
        this.#problem(`instance ${number} ended with an error: ${message}`)
      }
      if (++this.#failures > EXPLORATION_DEFAULTS.maxRestarts) {
        this.#problem(`the operator failed ${this.#failures} times`)
        return
      }
    } else if (!instance.isStopping) this.#problem(`instance ${number} exited without a stop signal`)
    else if (this.#world.leaseHolder === instance.identity)
      this.#problem(`instance ${number} ended without releasing its lease`)
    this.#restart()
  }

  #problem(message: string): void {
    this.#options.onProblem(problem('instance-ended', message))
  }
}
