/** Handlers of the changes of an informer. */
import type { KubeObject, Stored } from '@reeve/kube'
import type { Logger } from '../logging/logger.ts'
import type { Change } from './informer-store.ts'

/**
 * Called with every change that the watch or a new list shows: once per change, in order, never concurrently.
 *
 * Several changes of an object may arrive as one, and changes by own writes arrive like any other. Methods are
 * synchronous and must be quick; an exception is logged and counted, and the other handlers are still called.
 */
export interface InformerHandler<T extends KubeObject> {
  /**
   * @param isInitial the object existed when the informer synced, or when the handler was added
   * @param isOwn the event shows a write of this process that readers have seen already
   */
  added?(object: Stored<T>, isInitial: boolean, isOwn: boolean): void
  modified?(previous: Stored<T>, object: Stored<T>, isOwn: boolean): void
  /**
   * @param isFinalStateUnknown the deletion event was missed (a connection was lost): `object` is the last state
   * that was seen, not necessarily the last one
   */
  deleted?(object: Stored<T>, isFinalStateUnknown: boolean): void
  /** All objects that existed have been passed to `added`. */
  synced?(): void
}

/** The handlers of one informer. */
export class InformerHandlers<T extends KubeObject> {
  readonly #handlers = new Set<InformerHandler<T>>()
  readonly #logger: Logger
  readonly #onError: () => void

  constructor(logger: Logger, onError: () => void) {
    this.#logger = logger
    this.#onError = onError
  }

  /** Adds a handler and calls it with the objects that exist already. */
  add(handler: InformerHandler<T>, present: Iterable<Stored<T>>, isSynced: boolean): () => void {
    for (const object of present) this.#guard(() => handler.added?.(object, true, false))
    if (isSynced) this.#guard(() => handler.synced?.())
    this.#handlers.add(handler)
    return () => this.#handlers.delete(handler)
  }

  dispatch(changes: readonly Change<T>[], isInitial: boolean): void {
    for (const change of changes) {
      for (const handler of this.#handlers) this.#guard(() => tell(handler, change, isInitial))
    }
  }

  synced(): void {
    for (const handler of this.#handlers) this.#guard(() => handler.synced?.())
  }

  #guard(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#onError()
      this.#logger.error({ err: error }, 'event handler failed')
    }
  }
}

function tell<T extends KubeObject>(handler: InformerHandler<T>, change: Change<T>, isInitial: boolean): void {
  if (change.type === 'added') handler.added?.(change.object, isInitial, change.isOwn ?? false)
  else if (change.type === 'modified') handler.modified?.(change.previous, change.object, change.isOwn ?? false)
  else handler.deleted?.(change.object, change.isFinalStateUnknown)
}
