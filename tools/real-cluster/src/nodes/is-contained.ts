/** Compares a wanted status with the stored one, which has more fields. */
import { isDeepStrictEqual } from 'node:util'

/** Whether `actual` contains all fields of `wanted`; lists of conditions are compared by type. */
export function isContained(wanted: unknown, actual: unknown): boolean {
  if (Array.isArray(wanted)) {
    const list: readonly unknown[] = Array.isArray(actual) ? actual : []
    return wanted.every((item, index) =>
      isContained(item, list.find((other) => hasSameType(item, other)) ?? list[index]),
    )
  }
  if (typeof wanted !== 'object' || wanted === null) return isDeepStrictEqual(wanted, actual)
  const object: Readonly<Record<string, unknown>> = typeof actual === 'object' && actual !== null ? { ...actual } : {}
  return Object.entries(wanted).every(([key, value]) => value === undefined || isContained(value, object[key]))
}

function hasSameType(a: unknown, b: unknown): boolean {
  return isTyped(a) && isTyped(b) && a.type === b.type
}

function isTyped(value: unknown): value is { readonly type: string } {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
