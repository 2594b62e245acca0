/** How reconciles failed, from the records of the runtime and from what operators log. */
import type { RunningInstance } from '../world/instance.ts'

/** How reconciles end that did not do their work. */
const FAILED_OUTCOMES: ReadonlySet<string> = new Set(['error', 'terminal', 'timeout'])

/** Conflicts of one object in a row after which they are a problem. */
const MAX_CONFLICTS = 10

/** What failed. */
export interface Failures {
  /** Reconciles of controllers of the runtime, by controller and object. */
  readonly reconciles: readonly string[]
  /**
   * Lines about failures. Controllers of the runtime log every failed reconcile, at a level that depends on how often it
   * failed: of their instances only lines at level `error` count, of others every line that has an error.
   */
  readonly logged: readonly string[]
}

/** Reads the failures of all instances of a world, each of them once. */
export class FailureReader {
  readonly #world: { readonly instances: readonly RunningInstance[] }
  readonly #reconcilesRead = new Map<number, number>()
  readonly #linesRead = new Map<number, number>()

  constructor(world: { readonly instances: readonly RunningInstance[] }) {
    this.#world = world
  }

  /** Failures since the last call that `isExpected` does not accept. */
  next(isExpected: (message: string) => boolean = () => false): Failures {
    const { instances } = this.#world
    return {
      reconciles: instances.flatMap((instance) => this.#failedReconciles(instance, isExpected)),
      logged: instances.flatMap((instance) => this.#loggedFailures(instance).filter((line) => !isExpected(line))),
    }
  }

  #failedReconciles({ number, reconciles }: RunningInstance, isExpected: (message: string) => boolean): string[] {
    const fresh = reconciles.slice(this.#reconcilesRead.get(number) ?? 0)
    this.#reconcilesRead.set(number, reconciles.length)
    return fresh.flatMap(({ controller, key, outcome, error = '', attempt }) => {
      const isStuck = outcome === 'conflict' && attempt >= MAX_CONFLICTS
      if ((!FAILED_OUTCOMES.has(outcome) && !isStuck) || isExpected(error)) return []
      const name = [key.namespace, key.name].filter((part) => part !== undefined).join('/')
      return [`${controller} ${name}: ${isStuck ? `${attempt} conflicts in a row: ` : ''}${error}`]
    })
  }

  #loggedFailures({ number, reconciles, loggedFailures }: RunningInstance): string[] {
    const fresh = loggedFailures.slice(this.#linesRead.get(number) ?? 0)
    this.#linesRead.set(number, loggedFailures.length)
    const isOnRuntime = reconciles.length > 0
    return fresh.filter(({ isError }) => isError || !isOnRuntime).map(({ message }) => message)
  }
}
