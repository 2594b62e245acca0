/** Conditions and counts of a status. */

import type { Condition } from './kinds/meta.ts'
import { jsonEquals } from './resource-client.ts'

/** The condition of that type. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

/** Whether the condition of that type exists and is true. */
export function isTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True'
}

/**
 * The conditions with this one set. `lastTransitionTime` changes only with the status, and an equal condition is not
 * replaced, so that setting it again writes nothing.
 */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  condition: Condition,
  now: string,
): readonly Condition[] {
  const existing = findCondition(conditions, condition.type)
  if (existing !== undefined && contains(existing, condition)) return conditions ?? []
  const sameStatus = existing?.status === condition.status
  const lastTransitionTime = (sameStatus ? existing.lastTransitionTime : undefined) ?? now
  const updated = { ...condition, lastTransitionTime }
  if (existing === undefined) return [...(conditions ?? []), updated]
  return (conditions ?? []).map((other) => (other.type === condition.type ? updated : other))
}

/** Whether the condition has all fields of `wanted`. The server may have added others. */
function contains(condition: Condition, wanted: Condition): boolean {
  const { reason, message } = condition
  return reason === wanted.reason && message === wanted.message && jsonEquals({ ...condition, ...wanted }, condition)
}

/** The conditions without the one of that type. */
export function withoutCondition(conditions: readonly Condition[] | undefined, type: string): readonly Condition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type)
}

/** `{ [name]: count }`, or an empty object for a count of zero or less: the status omits zero counts. */
export function positive<Name extends string>(name: Name, count: number): { readonly [Field in Name]?: number } {
  // The compiler cannot check a mapped type with one computed name.
  return (count > 0 ? { [name]: count } : {}) as { readonly [Field in Name]?: number }
}
