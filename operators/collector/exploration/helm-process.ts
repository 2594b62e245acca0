/** One helm process in the simulation: a sequence of steps, between any two of which it may die or be told to end. */
import { type Clock, sleep } from '@reeve/kube'
import type { OutsideCall } from '@reeve/simulation'

/** What a step takes: long enough for others to look in between. */
const STEP_MS = 200

/** How a process is started. */
export interface ProcessOptions {
  /** Such as `helm upgrade acme/log-collector-eu1`. */
  readonly what: string
  readonly clock: Clock
  /** Tells it to end, as SIGTERM does. */
  readonly signal?: AbortSignal | undefined
  /** Each step is a call of its own, so that the process dies with the operator at any of them. Absent: it outlives it. */
  readonly call?: OutsideCall | undefined
  /** Take no time: for what a user does, during which the world stands still. @default false */
  readonly isInstant?: boolean
}

/** A helm that runs. */
export class HelmProcess {
  readonly #options: ProcessOptions

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get isToldToEnd(): boolean {
    return this.#options.signal?.aborted ?? false
  }

  /** Takes one step, unless the process was told to end: then it throws the reason. */
  async step<R>(what: string, act: () => Promise<R>): Promise<R> {
    this.#options.signal?.throwIfAborted()
    return this.lastStep(what, act)
  }

  /** Takes one step whatever it was told: what Helm still writes when it ends early. */
  async lastStep<R>(what: string, act: () => Promise<R>): Promise<R> {
    const { clock, call, what: command, isInstant = false } = this.#options
    const pass = async () => (isInstant ? undefined : sleep(STEP_MS, { clock }))
    if (call === undefined) {
      await pass()
      return act()
    }
    return call(`${command}: ${what}`, async (killed) => {
      await pass()
      // Nobody waits for the result of a process that died before it came to this.
      return killed.aborted ? new Promise<R>(() => undefined) : act()
    })
  }
}
