/** The record of a reconcile: why it ran, what it wrote, how long each stage took, how it ended. */
import type { ObjectKey } from '@reeve/kube'
import type { WriteRecord } from '../client/reconcile-client.ts'
import type { Reason } from '../queue/reason.ts'

/** How long a named part of a reconcile took. A stage that runs several times is summed up. */
export interface StageRecord {
  readonly name: string
  /** Of its first run, in milliseconds since the epoch. */
  readonly startedMs: number
  readonly durationMs: number
}

/**
 * How a reconcile ended. `conflict`: it failed, and the next attempt usually succeeds; `aborted`: cut short because the
 * controller stops; `paused`: nothing was done, because an annotation pauses the object.
 */
export type ReconcileOutcome =
  | 'success'
  | 'requeue_after'
  | 'conflict'
  | 'error'
  | 'terminal'
  | 'timeout'
  | 'aborted'
  | 'paused'

/** One reconcile, from the queue to its end. */
export interface ReconcileRecord {
  readonly controller: string
  readonly key: ObjectKey
  readonly reconcileId: string
  /** Which events on which objects made it run, oldest first. */
  readonly reasons: readonly Reason[]
  /** Events beyond those in `reasons`. */
  readonly omittedReasons: number
  /** 1, or one more for each failure in a row before. */
  readonly attempt: number
  /** In milliseconds since the epoch. */
  readonly startedMs: number
  /** How long the key was ready before a worker took it. */
  readonly waitedMs: number
  readonly durationMs: number
  readonly stages: readonly StageRecord[]
  readonly writes: readonly WriteRecord[]
  /** Writes beyond those in `writes`. */
  readonly omittedWrites: number
  readonly outcome: ReconcileOutcome
  /** Message of the error, if it ended with one. */
  readonly error?: string
  /** Stable code of the error, if it has one. */
  readonly errorCode?: string
  /** When it runs again without an event, after a failure or because it was requested. */
  readonly nextRunMs?: number
}

/**
 * The diagnostics channel on which every controller of the process publishes the {@link ReconcileRecord} of each
 * reconcile that ends. For tools that observe operators; an operator itself uses `onReconcile`.
 *
 * @example
 * diagnostics_channel.subscribe(RECONCILE_CHANNEL, (record) => console.log(record))
 */
export const RECONCILE_CHANNEL = 'reeve:reconcile'

/**
 * The last records, oldest first; the oldest is dropped when a new one comes and `capacity` is reached.
 *
 * @example
 * const log = new RecordLog(200)
 * log.add(record)
 */
export class RecordLog {
  readonly #capacity: number
  readonly #records: ReconcileRecord[] = []
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  add(record: ReconcileRecord): void {
    if (this.#capacity <= 0) return
    this.#records[this.#next] = record
    this.#next = (this.#next + 1) % this.#capacity
  }

  /** A copy, oldest first. */
  list(): readonly ReconcileRecord[] {
    if (this.#records.length < this.#capacity) return [...this.#records]
    return [...this.#records.slice(this.#next), ...this.#records.slice(0, this.#next)]
  }
}
