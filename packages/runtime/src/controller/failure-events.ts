/** Events about failing reconciles, on the object itself and without repetition. */
import { formatKey, type KubeObject, type ObjectKey } from '@reeve/kube'
import type { EventRecorder } from '../events/event-recorder.ts'
import { LruMap } from '../lru-map.ts'
import { type Ending, FAILURES_TO_ESCALATE } from './reconcile-ending.ts'

/** How many objects are remembered. One that was evicted gets its event again. */
const CAPACITY = 4_096

/** What an event can hold. */
const MAX_MESSAGE_LENGTH = 1_024

/**
 * *Guarantees*: one event for each consecutive failure with a new message; none for conflicts,
 * which settle themselves, unless they persist; memory is bounded.
 */
export class FailureEvents {
  readonly #events: EventRecorder
  readonly #told = new LruMap<string, string>(CAPACITY)

  constructor(events: EventRecorder) {
    this.#events = events
  }

  /** Call it after each reconcile. */
  note(key: ObjectKey, object: KubeObject | undefined, { outcome, error }: Ending, attempt: number): void {
    const id = formatKey(key)
    if (error === undefined || object === undefined) {
      this.#told.delete(id)
      return
    }
    if (outcome === 'aborted' || (outcome === 'conflict' && attempt < FAILURES_TO_ESCALATE)) return
    const message = error.message.slice(0, MAX_MESSAGE_LENGTH)
    if (this.#told.get(id) === message) return
    this.#told.set(id, message)
    const isDeleting = object.metadata.deletionTimestamp !== undefined
    this.#events.record(object, {
      type: 'Warning',
      reason: isDeleting ? 'FinalizeFailed' : outcome === 'conflict' ? 'ReconcileConflict' : 'ReconcileFailed',
      message,
    })
  }
}
