/** The condition that the engine itself sets on a resource that makes no progress and cannot report it itself. */
import type { Clock } from '@reeve/http'
import { type Condition, getCondition, removeCondition, setCondition } from './condition.ts'

/** Present, with status `True`, while a resource is stalled. */
export const STALLED_CONDITION = 'Stalled'

/**
 * `FinalizeFailed`: the clean-up before its deletion fails. `ConflictPersists`: every attempt ends with a conflict, so
 * nothing is applied. `Flapping`: each reconcile writes again what the one before has written.
 */
export type StalledReason = 'FinalizeFailed' | 'ConflictPersists' | 'Flapping'

const REASONS: ReadonlySet<string> = new Set<StalledReason>(['FinalizeFailed', 'ConflictPersists'])

/** Why a resource is stalled. */
export interface Stall {
  readonly reason: StalledReason
  readonly message: string
}

/**
 * The conditions with the stall, or without one. A condition of this type that an operator sets itself, with another
 * reason, is kept while nothing is stalled. So is `Flapping`, which shows only after a reconcile, to its controller.
 *
 * @param stored the condition as it is now: one that stays `True` keeps its time, whatever the operator reports meanwhile
 */
export function withStall(
  conditions: readonly Condition[],
  stall: Stall | undefined,
  clock: Pick<Clock, 'now'>,
  stored = getCondition(conditions, STALLED_CONDITION),
): readonly Condition[] {
  const isFlapping = stored?.reason === ('Flapping' satisfies StalledReason)
  if (stall !== undefined || isFlapping) {
    const index = conditions.findIndex(({ type }) => type === STALLED_CONDITION)
    const at = index < 0 ? conditions.length : index
    const before =
      stored === undefined ? removeCondition(conditions, STALLED_CONDITION) : conditions.toSpliced(at, 1, stored)
    if (stall === undefined) return before
    return setCondition(before, { type: STALLED_CONDITION, status: 'True', ...stall }, clock)
  }
  const isOurs = REASONS.has(getCondition(conditions, STALLED_CONDITION)?.reason ?? '')
  return isOurs ? removeCondition(conditions, STALLED_CONDITION) : conditions
}
