/** Input and output of a work queue. */
import type { Clock } from '@reeve/http'
import type { Logger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { BackoffOptions } from './backoff.ts'
import type { Reason } from './reason.ts'
import type { TokenBucketOptions } from './token-bucket.ts'

/**
 * `high` for what a user just changed, `normal` for retries, `low` for resyncs and for objects that existed at the
 * start.
 */
export type Priority = 'high' | 'normal' | 'low'

/**
 * How much longer than its true wait a key of this priority counts as having waited. Ageing follows:
 * after a minute even a low key goes before a high one that has just arrived, so nothing starves.
 */
export const HEAD_START_MS: Readonly<Record<Priority, number>> = { high: 60_000, normal: 30_000, low: 0 }

/** Limits of a queue. */
export const QUEUE_DEFAULTS = Object.freeze({ maxReasons: 8, maxKeys: 1_000_000 })

/** Options of {@link WorkQueue}. */
export interface WorkQueueOptions<K> {
  /** Label of the metrics and field of the logs: the controller's name. */
  readonly name: string
  readonly clock?: Clock
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
  /** Identity of a key. Needed for keys that are objects. @default the key itself */
  readonly identify?: (key: K) => string | number
  /** Delays of retries of one key. @default 1 s, doubling up to 5 min, plus up to 10 % */
  readonly backoff?: BackoffOptions
  /** Limit of retries over all keys together. @default 10 per second, bursts of 100 */
  readonly retryRate?: TokenBucketOptions
  /**
   * Maximum number of keys. Far above what any cluster has: reaching it means that something generates keys, and
   * further ones are rejected, logged and counted. @default 1_000_000
   */
  readonly maxKeys?: number
}

/** Options of {@link WorkQueue.add}. */
export interface AddOptions {
  readonly reason?: Reason
  /** @default 'high' */
  readonly priority?: Priority
  /** Delay in milliseconds. @default 0 */
  readonly delayMs?: number
  /** Do not run a key early that waits for its retry: a resync must not defeat the backoff. @default false */
  readonly respectBackoff?: boolean
  /**
   * Whether the request only shows what the last runs of the key itself wrote. Then it neither ends a backoff nor runs a
   * key that has given up. Asked once more when a run in progress ends: an event may arrive before the response to the
   * write that it shows. @default never
   */
  readonly isEcho?: () => boolean
}

/** A key taken by a worker, which returns it with {@link WorkQueue.done}. */
export interface WorkItem<K> {
  readonly key: K
  /** Why it is worked on, oldest first. */
  readonly reasons: readonly Reason[]
  /** Events beyond those in `reasons`. */
  readonly omittedReasons: number
  /** Nothing made it run but what earlier runs of the key itself wrote. */
  readonly isEcho: boolean
  /** Failures in a row before this run. */
  readonly failures: number
  /** How long it was ready before a worker took it. */
  readonly waitedMs: number
}
