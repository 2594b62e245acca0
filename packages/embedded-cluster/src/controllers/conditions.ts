/** Conditions of a status. */
import { jsonEquals } from './json-equals.ts'
import type { Condition } from './kinds/meta.ts'

/** The condition of that type. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** Whether the condition of that type is there and true. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

/**
 * The conditions with this one set. `lastTransitionTime` moves only when the status does, and a condition that
 * says the same as before is left as it is, so that repeating it writes nothing.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): readonly Condition[] {
  const existing = findCondition(conditions, condition.type)
  if (existing !== undefined && says(existing, condition)) return conditions ?? []
  const sameStatus = existing?.status === condition.status
  const lastTransitionTime = (sameStatus ? existing.lastTransitionTime : undefined) ?? now
  const updated = { ...condition, lastTransitionTime }
  if (existing === undefined) return [...(conditions ?? []), updated]
  return (conditions ?? []).map((other) => (other.type === condition.type ? updated : other))
}

/** Whether the condition has all fields of the other. The server may have added some of its own. */
function says(condition: Condition, wanted: Condition): boolean {
  const { reason, message } = condition
  return reason === wanted.reason && message === wanted.message && jsonEquals({ ...condition, ...wanted }, condition)
}

/** The conditions without the one of that type. */
export function withoutCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type)
}
