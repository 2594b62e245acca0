/** One simulated helm process: a sequence of steps, between which it may crash or be stopped. */
import { type Clock, sleep } from '@reeve/http'
import type { OutsideCall } from '@reeve/simulation'

/** Duration of a step: long enough for reads in between. */
const STEP_MS = 200

/** How a process is started. */
export interface ProcessOptions {
  /** Such as `helm upgrade acme/log-collector-eu1`. */
  readonly what: string
  readonly clock: Clock
  /** Stops it, as SIGTERM does. */
  readonly signal?: AbortSignal | undefined
  /** Each step is a separate call, so that the process dies with the operator at any of them. Absent: it outlives it. */
  readonly call?: OutsideCall | undefined
  /** Take no time: for what a user does, during which no time passes. @default false */
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

  get isStopped(): boolean {
    return this.#options.signal?.aborted ?? false
  }

  /** Takes one step, unless the process was stopped: then it throws the reason. */
  async step<R>(what: string, act: () => Promise<R>): Promise<R> {
    this.#options.signal?.throwIfAborted()
    return this.lastStep(what, act)
  }

  /** Takes one step even after a stop: what Helm still writes then. */
  async lastStep<R>(what: string, act: () => Promise<R>): Promise<R> {
    const { clock, call, what: command, isInstant = false } = this.#options
    const step = async () => (isInstant ? undefined : sleep(STEP_MS, { clock }))
    if (call === undefined) {
      await step()
      return act()
    }
    return call(`${command}: ${what}`, async (killed) => {
      await step()
      // A process that has crashed never completes.
      return killed.aborted ? new Promise<R>(() => undefined) : act()
    })
  }
}
