/** The input and the result of a reconcile function. */
import type { Clock } from '@reeve/http'
import type { KubeClient, KubeObject, ObjectKey, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Logger } from '../logging/logger.ts'
import type { Reason } from '../queue/reason.ts'
import type { RuntimeWatches } from './runtime-watches.ts'

/** Everything a reconcile needs to do its work. */
export interface ReconcileRequest<T extends KubeObject> {
  /** The object to reconcile. It may have been deleted. */
  readonly key: ObjectKey
  /** The object from the cache when the reconcile began; undefined when it was deleted. */
  readonly object: Stored<T> | undefined
  /** Which events on which objects made it run, oldest first. For people only: act on the state, not on events. */
  readonly reasons: readonly Reason[]
  /** 1, or one more for each failure in a row before. */
  readonly attempt: number
  /** Names this run in logs and records. */
  readonly reconcileId: string
  /**
   * Writes are visible in `cache` as soon as they return. Rejects further requests when the reconcile is abandoned, so
   * that one that ignores its signal cannot interfere with the next.
   */
  readonly client: KubeClient
  /** The resources that the controller named in `for`, `owns`, `watches` and `reads`. */
  readonly cache: CacheReader
  /** Has controller, namespace, name and reconcileId bound. */
  readonly logger: Logger
  readonly clock: Clock
  /** Aborts when the reconcile takes too long or the controller stops: pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly events: EventRecorder
  /** Watches that are needed only sometimes, such as of a kind that the object names. */
  readonly watches: RuntimeWatches
  /**
   * Runs a part of the work and measures it for the record of the reconcile.
   *
   * @example
   * const plan = await request.stage('resolve', () => resolve(webapp))
   */
  stage<R>(name: string, run: () => R): R
}

/** The result of a reconcile. Empty: reconcile again when something changes. */
export interface ReconcileResult {
  /** Reconcile again after this time, or earlier when something changes. */
  readonly requeueAfterMs?: number
  /**
   * The time is a backoff after a failure that the reconcile has dealt with: an event that only shows what this reconcile
   * itself wrote, such as the failure in the status, does not shorten it. @default false
   */
  readonly isBackoff?: boolean
}

/**
 * Makes the cluster match the object: idempotent, and correct from any state. May throw; then it runs
 * again after a backoff, unless it threw a `TerminalError`.
 */
export type Reconcile<T extends KubeObject> = (
  request: ReconcileRequest<T>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a reconcile without a return statement is the usual case
) => Promise<ReconcileResult | undefined | void>
