/** The state of an informer, for health checks and diagnostics. */
import { formatTime } from '../timestamp.ts'

/** Why a list or watch failed; few and fixed values, usable as a label. */
export type InformerFailure = 'expired' | 'silent' | 'stale' | 'refused' | 'unreachable' | 'closed' | 'internal'

/**
 * `waiting` until the cache runs, `listing` while the whole state is fetched, `watching` while a watch is open or
 * being opened, `backing-off` between a failure and the next try, `missing` while the server does not serve the kind and
 * that is allowed, `stopped` at the end.
 */
export type InformerState = 'waiting' | 'listing' | 'watching' | 'backing-off' | 'missing' | 'stopped'

/** A snapshot of an informer. */
export interface InformerHealth {
  /** Such as `deployments.apps`. */
  readonly resource: string
  /** The resource with its selection, as text. */
  readonly description: string
  readonly state: InformerState
  /** Since when, in milliseconds since the epoch. */
  readonly stateSinceMs: number
  /** The first complete state has arrived. */
  readonly isSynced: boolean
  /** Synced, and not failing for longer than tolerated. */
  readonly isHealthy: boolean
  readonly objects: number
  /** Own writes that the watch has not shown yet. */
  readonly ownWrites: number
  readonly resourceVersion: string | undefined
  /** When the server last sent anything, in milliseconds since the epoch. */
  readonly lastContactMs: number | undefined
  /** Since when lists and watches have been failing, in milliseconds since the epoch; undefined while they succeed. */
  readonly failingSinceMs: number | undefined
  /** Failures in a row; 0 once a watch has delivered something again. */
  readonly failures: number
  /** The last failure, recovered from or not. */
  readonly lastFailure:
    | { readonly reason: InformerFailure; readonly message: string; readonly atMs: number }
    | undefined
  /** Complete lists fetched since the start, including the first. */
  readonly lists: number
  /** Watches opened since the start. */
  readonly watches: number
}

/**
 * Why an informer is not healthy, and since when.
 *
 * @example
 * describeFailure(health)
 * // 'deployments.apps is cut off from the API server since 2026-01-01T10:00:00Z: connect ECONNREFUSED'
 */
export function describeFailure(health: InformerHealth): string {
  const { description, isSynced, state, stateSinceMs, failingSinceMs, lastFailure } = health
  const reason = lastFailure === undefined ? '' : `: ${lastFailure.message}`
  if (failingSinceMs !== undefined) {
    const what = isSynced ? 'is cut off from the API server' : 'could not be listed yet, failing'
    return `${description} ${what} since ${formatTime(failingSinceMs)}${reason}`
  }
  return isSynced
    ? `${description} is ${state} since ${formatTime(stateSinceMs)}`
    : `${description} is not synced yet, ${state} since ${formatTime(stateSinceMs)}`
}
