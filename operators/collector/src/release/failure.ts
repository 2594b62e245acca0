/** Failures as the status reports them. */
import { HelmError } from '@reeve/helm'
import { formatTime } from '@reeve/runtime'
import type { LastFailure } from '../api/collector.ts'
import { backoffMs } from '../decision/decide.ts'
import type { Ingredients } from '../decision/revision-marks.ts'
import { enumerate } from './enumerate.ts'
import type { Drift } from './inspect-release.ts'

/** A failure without its history. */
export interface Failure {
  readonly reason: string
  readonly message: string
  /** What was tried, if anything was. */
  readonly tried?: Ingredients
}

/** The failure that an error stands for: its code in CamelCase, and its message, which names the remedy. */
export function failureOf(error: unknown, tried?: Ingredients): Failure {
  const message = error instanceof Error ? error.message : String(error)
  const isCoded = error instanceof Error && 'code' in error && typeof error.code === 'string'
  const code = error instanceof HelmError ? error.code : isCoded ? String(error.code) : 'RECONCILE_FAILED'
  const reason = code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
  return { reason, message, ...(tried && { tried }) }
}

/** The reason for drift that an upgrade has not healed. */
export const DRIFT_PERSISTS = 'DriftPersists'

/** The failure to report when drift is found right after it should have been healed. */
export function driftFailure(drift: Drift, tried: Ingredients): Failure | undefined {
  const found = describeDrift(drift)
  if (found === undefined) return undefined
  return {
    reason: DRIFT_PERSISTS,
    message: `${found}; an upgrade has not restored it: find out what else writes to these objects`,
    tried,
  }
}

/** Drift as a text; undefined when there is none. */
export function describeDrift({ missing, changed }: Drift): string | undefined {
  const parts = [
    ...(missing.length > 0 ? [`missing: ${enumerate(missing)}`] : []),
    ...(changed.length > 0 ? [`changed: ${enumerate(changed)}`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join('; ')
}

/**
 * Adds a failure to what is known. The same one seen again before its delay is over is the same occurrence, so that
 * an unchanged failure writes nothing.
 */
export function noteFailure(
  before: LastFailure | undefined,
  { reason, message, tried }: Failure,
  now: number,
): LastFailure {
  const isSame =
    before?.reason === reason &&
    before.chartDigest === tried?.chartDigest &&
    before.valuesDigest === tried?.valuesDigest
  if (isSame && before.message === message && remainingMs(before, now) > 0) return before
  return {
    reason,
    message,
    time: formatTime(now),
    attempts: isSame ? before.attempts + 1 : 1,
    ...tried,
  }
}

/** How long until the attempt may be repeated. */
export function remainingMs(failure: LastFailure, now: number): number {
  const { chartDigest = '', valuesDigest = '' } = failure
  return backoffMs({ ...failure, chartDigest, valuesDigest }, { chartDigest, valuesDigest }, now)
}
