/** The ending of a reconcile, from its result or error, and its log line. */
import { isApiError, isConflict } from '@reeve/kube'
import { explainFetch } from '../fetch-failure.ts'
import type { Logger } from '../logging/logger.ts'
import { describeReason } from '../queue/reason.ts'
import { StaleViewError } from '../runtime-error.ts'
import { ControllerStoppingError, ReconcileTimeoutError, TerminalError } from './controller-error.ts'
import type { ReconcileOutcome, ReconcileRecord } from './reconcile-record.ts'
import type { ReconcileResult } from './reconcile-request.ts'

/** After this many failures in a row a person should investigate; most problems resolve themselves before. */
export const FAILURES_TO_ESCALATE = 5

/** How a reconcile ended and what follows from it. */
export interface Ending {
  readonly outcome: ReconcileOutcome
  /** Set with an outcome that is a failure. */
  readonly error?: Error
  /** For `requeue_after`; 0 otherwise. */
  readonly requeueAfterMs: number
  /** See {@link ReconcileResult.isBackoff}. */
  readonly isBackoff?: boolean
  /** How long a server asked to wait before a retry; 0 when it did not. */
  readonly retryAfterMs: number
}

/** Of an object that an annotation pauses. */
export const PAUSED: Ending = { outcome: 'paused', requeueAfterMs: 0, retryAfterMs: 0 }

/**
 * @param signal of the reconcile: its reason distinguishes a timeout from a stop
 * @param result what it returned, or undefined when it threw
 */
export function endingOf(signal: AbortSignal, result: ReconcileResult | undefined, thrown?: unknown): Ending {
  if (result !== undefined) {
    const requeueAfterMs = result.requeueAfterMs ?? 0
    return requeueAfterMs > 0
      ? { outcome: 'requeue_after', requeueAfterMs, isBackoff: result.isBackoff ?? false, retryAfterMs: 0 }
      : { outcome: 'success', requeueAfterMs: 0, retryAfterMs: 0 }
  }
  const error =
    thrown instanceof Error
      ? explainFetch(thrown)
      : new Error(`a value that is not an Error was thrown: ${String(thrown)}`)
  const retryAfterMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0
  return { outcome: outcomeOf(signal, error), error, requeueAfterMs: 0, retryAfterMs }
}

function outcomeOf(signal: AbortSignal, error: Error): ReconcileOutcome {
  // A terminal error is terminal even after the timeout.
  if (error instanceof TerminalError) return 'terminal'
  if (signal.reason instanceof ControllerStoppingError) return 'aborted'
  if (signal.reason instanceof ReconcileTimeoutError) return 'timeout'
  return isConflict(error) || error instanceof StaleViewError ? 'conflict' : 'error'
}

/** One line per reconcile: debug when nothing happened, error only when a person has to act. */
export function logEnding(logger: Logger, record: ReconcileRecord, error: Error | undefined): void {
  if (record.outcome === 'paused') return
  const { outcome, durationMs, attempt, writes, omittedWrites, reasons } = record
  const fields = {
    outcome,
    durationMs,
    ...(writes.length > 0 && { writes: writes.length + omittedWrites }),
    ...(attempt > 1 && { attempt }),
    ...(record.nextRunMs !== undefined && {
      nextRunInMs: Math.max(0, record.nextRunMs - record.startedMs - durationMs),
    }),
  }
  if (error === undefined) {
    if (writes.length > 0) logger.info({ ...fields, reasons: reasons.map(describeReason) }, 'reconciled')
    else logger.debug(fields, 'reconciled')
  } else if (outcome === 'aborted') {
    logger.debug({ ...fields, err: error }, 'reconcile interrupted because this replica stops working on it')
  } else if (outcome === 'conflict' && attempt >= FAILURES_TO_ESCALATE) {
    logger.warn({ ...fields, err: error }, 'conflict persists, retrying')
  } else if (outcome === 'conflict') {
    logger.info({ ...fields, err: error }, 'conflict, retrying')
  } else if (outcome === 'terminal' || attempt >= FAILURES_TO_ESCALATE) {
    logger.error({ ...fields, err: error }, 'reconcile failed')
  } else {
    logger.warn({ ...fields, err: error }, 'reconcile failed, retrying')
  }
}
