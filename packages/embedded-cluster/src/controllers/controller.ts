/** A controller: which events concern it, which key each one touches, and what to do about a key. */
import type { ClusterEvent } from '../rest/cluster-api.ts'
import type { ControllerContext } from './context.ts'
import { ControlLoop, type Reconcile } from './control-loop.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** Adds the keys an event concerns. At start it sees every existing object as ADDED. */
export type EventHandler = (event: ClusterEvent, enqueue: (key: string) => void) => void

/** What makes up one controller. */
export interface ControllerDefinition {
  /** Shown in errors, such as `deployments`. */
  readonly name: string
  /** By resource, such as `deployments.apps`. */
  readonly watches: Readonly<Record<string, EventHandler>>
  readonly reconcile: Reconcile
  /** @default 16 */
  readonly concurrency?: number
  /**
   * Whether to look at a key only when everything else that happens at the same instant has happened. A set whose
   * hundred pods become ready together is then reported once and not a hundred times.
   * @default false
   */
  readonly gathersEvents?: boolean
  /** Forgets what was remembered of an earlier run: every existing object is about to be seen again. */
  readonly reset?: () => void
  /** Keys to begin with besides those of existing objects. */
  readonly initialKeys?: readonly string[]
}

/** The loop of the controller `name`, in the time and with the manners of its cluster. */
export function createLoop(
  { clock, random, onError, breathe }: ControllerContext,
  name: string,
  reconcile: Reconcile,
  concurrency?: number,
): ControlLoop {
  return new ControlLoop(reconcile, {
    clock,
    random,
    onError: (key, error) => onError(name, key, error),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(breathe === undefined ? {} : { breathe }),
  })
}

/** Runs a {@link ControllerDefinition} on the events of the cluster. */
export class Controller implements SimulatorController {
  readonly name: string
  readonly #context: ControllerContext
  readonly #definition: ControllerDefinition
  readonly #loop: ControlLoop
  #unsubscribe: (() => void)[] = []
  #isStarted = false

  constructor(context: ControllerContext, definition: ControllerDefinition) {
    this.name = definition.name
    this.#context = context
    this.#definition = definition
    this.#loop = createLoop(context, definition.name, definition.reconcile, definition.concurrency)
  }

  get isIdle(): boolean {
    return this.#loop.isIdle
  }

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#definition.reset?.()
    this.#loop.start()
    const enqueue = (key: string) => {
      if (this.#definition.gathersEvents === true) this.#loop.addAfter(key, 0)
      else this.#loop.add(key)
    }
    for (const key of this.#definition.initialKeys ?? []) enqueue(key)
    for (const [resource, handle] of Object.entries(this.#definition.watches)) {
      for (const object of this.#context.api.list(resource)) {
        handle({ type: 'ADDED', resource, object, previous: undefined }, enqueue)
      }
      this.#unsubscribe.push(this.#context.view.on(resource, (event) => handle(event, enqueue)))
    }
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#unsubscribe = []
    this.#isStarted = false
    await this.#loop.stop()
  }
}
