/** Environment variables and arguments that the operator sets and the user may override. */
import type { EnvVar } from '@reeve/kube'

/** One entry, and how much it counts. */
export interface Prioritised<T> {
  readonly key: string
  readonly value: T
  readonly priority: number
}

/** Which source overrides which. */
export const PRIORITY = { operator: 1, derived: 5, user: 10 } as const

/**
 * One entry per key, in the order of the keys. A later entry replaces an earlier one only when it counts for more;
 * between equals the first one stays.
 */
export function byPriority<T>(entries: readonly Prioritised<T>[]): readonly Prioritised<T>[] {
  const winners = new Map<string, Prioritised<T>>()
  for (const entry of entries) {
    const winner = winners.get(entry.key)
    if (winner === undefined || entry.priority > winner.priority) winners.set(entry.key, entry)
  }
  return [...winners.values()].sort(byKey)
}

/** Sorts by the bytes of the keys, not by the rules of a language. */
export function byKey(left: { readonly key: string }, right: { readonly key: string }): number {
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}

/** The tenant of a container: the operator's variables, overridden by the user's. */
export function tenantOf(
  own: readonly (EnvVar & { readonly priority?: number })[],
  user: readonly EnvVar[],
): readonly EnvVar[] {
  return byPriority([
    ...own.map(({ priority = PRIORITY.operator, ...value }) => ({ key: value.name, value, priority })),
    ...user.map((value) => ({ key: value.name, value, priority: PRIORITY.user })),
  ]).map(({ value }) => value)
}

/**
 * Each variable once. Of two with one name the last counts, as it does in a container that is given both; a list with
 * both cannot be applied, as the cluster identifies entries by name.
 */
export function lastOfEachName(variables: readonly EnvVar[]): readonly EnvVar[] {
  return variables.filter(({ name }, index) => variables.findLastIndex((one) => one.name === name) === index)
}

/** A variable with the value of a field of the pod. */
export const fromField = (name: string, fieldPath: string): EnvVar => ({ name, valueFrom: { fieldRef: { fieldPath } } })

/** A variable with the value of a key of a ConfigMap that must be there. */
export const fromConfigMap = (name: string, configMap: string, key: string): EnvVar => ({
  name,
  valueFrom: { configMapKeyRef: { name: configMap, key, optional: false } },
})
