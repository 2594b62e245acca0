/** Equality and digests of JSON values, with absent and `undefined` taken as the same. */
import { createHash } from 'node:crypto'

/**
 * Deep equality of JSON values; a property that is `undefined` counts as absent.
 *
 * @example
 * isJsonEqual({ a: 1, b: undefined }, { a: 1 }) // true
 */
export function isJsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => isJsonEqual(item, right[index]))
  }
  const a = left as Readonly<Record<string, unknown>>
  const b = right as Readonly<Record<string, unknown>>
  for (const key of Object.keys(a)) if (!isJsonEqual(a[key], b[key])) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && a[key] === undefined) return false
  return true
}

/**
 * A short digest that does not depend on the order of properties.
 *
 * @example
 * digest({ a: 1, b: 2 }) === digest({ b: 2, a: 1 }) // true
 */
export function digest(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, 16)
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : 1))
  return `{${entries.map(([name, child]) => `${JSON.stringify(name)}:${canonical(child)}`).join(',')}}`
}
