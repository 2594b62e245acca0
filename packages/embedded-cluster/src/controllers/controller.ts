/** A controller: the events it watches, the key of each event, and the reconcile of a key. */
import type { ClusterEvent } from '../api/cluster-api.ts'
import type { ControllerContext } from './context.ts'
import { ControlLoop, type Reconcile } from './control-loop.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** Queues the keys of an event. At start it gets every existing object as ADDED. */
export type EventHandler = (event: ClusterEvent, enqueue: (key: string) => void) => void

/** The definition of one controller. */
export interface ControllerDefinition {
  /** Shown in errors, such as `deployments`. */
  readonly name: string
  /** By resource, such as `deployments.apps`. */
  readonly watches: Readonly<Record<string, EventHandler>>
  readonly reconcile: Reconcile
  /** @default 16 */
  readonly concurrency?: number
  /**
   * Whether to reconcile a key only after all other events of the same instant. A set whose hundred pods become ready
   * together is then reported once instead of a hundred times.
   * @default false
   */
  readonly gathersEvents?: boolean
  /** Drops state of an earlier run: every existing object is about to be delivered again. */
  readonly reset?: () => void
  /** Initial keys in addition to those of existing objects. */
  readonly initialKeys?: readonly string[]
}

/** The control loop of the controller `name`, with the dependencies of its cluster. */
export function createLoop(
  { clock, random, onError, yieldToProcess }: ControllerContext,
  name: string,
  reconcile: Reconcile,
  concurrency?: number,
): ControlLoop {
  return new ControlLoop(reconcile, {
    clock,
    random,
    onError: (key, error) => onError(name, key, error),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(yieldToProcess === undefined ? {} : { yieldToProcess }),
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
