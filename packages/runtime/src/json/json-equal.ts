/** Equality and digests of JSON values, with absent and `undefined` taken as the same. */
import { hash } from 'node:crypto'
import { ownValue } from '@reeve/http'

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
  // A label may be called constructor: what objects inherit does not count.
  for (const key of Object.keys(a)) if (!isJsonEqual(a[key], ownValue(b, key))) return false
  for (const key of Object.keys(b)) if (b[key] !== undefined && !Object.hasOwn(a, key)) return false
  return true
}

/**
 * A short digest that does not depend on the order of properties.
 *
 * @example
 * digest({ a: 1, b: 2 }) === digest({ b: 2, a: 1 }) // true
 */
export function digest(value: unknown): string {
  return hash('sha256', canonical(value)).slice(0, 16)
}

/** Text that JSON writes unescaped, as most text is. */
const PLAIN = /^[ !#-[\]-~]*$/

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

/** Many objects have one property, or are rendered in order: sorting those would only copy. */
function sortedNames(object: object): readonly string[] {
  const names = Object.keys(object)
  for (let index = 1; index < names.length; index++) {
    if ((names[index - 1] ?? '') > (names[index] ?? '')) return names.sort()
  }
  return names
}

function canonical(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const object = value as Readonly<Record<string, unknown>>
  // One string that grows: every reconcile computes this for every object, and lists of entries took half of the time.
  let text = ''
  for (const name of sortedNames(object)) {
    const child = object[name]
    if (child !== undefined) text += `${text === '' ? '' : ','}${quoted(name)}:${canonical(child)}`
  }
  return `{${text}}`
}
