/** How long failures are kept while others, such as an unreachable chart source, are temporary. */
import type { CollectorStatus, LastFailure } from '../api/collector.ts'
import type { Decision } from '../decision/decide.ts'
import { type Ingredients, isTriedWith } from '../decision/revision-marks.ts'
import { DRIFT_PERSISTS } from './failure.ts'

/** The result of a reconcile; either is absent when it did not get that far. */
export interface Outcome {
  readonly decision?: Decision | undefined
  readonly ingredients?: Ingredients | undefined
}

/**
 * The failure that counts for chart and values: the last one, unless that was about something else and the release was
 * rolled back because of an earlier one.
 *
 * @example
 * decide({ …, lastFailure: knownFailure(collector.status, ingredients) })
 */
export function knownFailure(
  status: CollectorStatus | undefined,
  ingredients: Ingredients | undefined,
): LastFailure | undefined {
  const { lastFailure, rolledBack } = status ?? {}
  if (ingredients === undefined || rolledBack === undefined) return lastFailure
  const isSuperseded = isTriedWith(rolledBack, ingredients) && !(lastFailure && isTriedWith(lastFailure, ingredients))
  return isSuperseded ? rolledBack : lastFailure
}

/** A failure is kept until the attempt succeeds, or chart or values change. */
export function remembered(
  before: LastFailure | undefined,
  { decision, ingredients }: Outcome,
): LastFailure | undefined {
  if (before === undefined || decision === undefined) return before
  if (decision.action === 'nothing' && decision.state === 'current') return undefined
  if (decision.action === 'nothing' && decision.state === 'drifted' && before.reason !== DRIFT_PERSISTS)
    return undefined
  return ingredients !== undefined && isTriedWith(before, ingredients) ? before : undefined
}

/** Why the release was rolled back: the latest failure if it is the cause, or else the one known before. */
export function rollbackCause(
  before: LastFailure | undefined,
  lastFailure: LastFailure | undefined,
  outcome: Outcome,
): LastFailure | undefined {
  const { decision, ingredients } = outcome
  const isRolledBack = decision?.action === 'nothing' && decision.state === 'rolled-back'
  const isCause = lastFailure !== undefined && ingredients !== undefined && isTriedWith(lastFailure, ingredients)
  return isRolledBack && isCause ? lastFailure : remembered(before, outcome)
}
