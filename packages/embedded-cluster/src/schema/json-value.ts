/** Reading, comparing and copying JSON values with untrusted field names. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'

/**
 * An own field of the object. Plain indexing would find `constructor` and others on the prototype for a label of that
 * name.
 */
export function ownField(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** The entry of a table for `name`, never an inherited property. */
export function ownEntry<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

/** Sets a field of an object under construction; assignment to `__proto__` would replace the prototype. */
export function setField(object: JsonObject, name: string, value: JsonValue | undefined): void {
  if (name === '__proto__') {
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[name] = value
  }
}

/** Whether the value is null, an empty list or an empty object. */
export function isEmptyContainer(value: JsonValue): boolean {
  if (value === null) return true
  if (Array.isArray(value)) return value.length === 0
  if (!isJsonObject(value)) return false
  for (const name in value) {
    if (value[name] !== undefined) return false
  }
  return true
}

/** Whether objects and lists are nested deeper than `levels`. Does not use recursion. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  let level: readonly JsonValue[] = typeof value === 'object' && value !== null ? [value] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > levels) return true
    const below: JsonValue[] = []
    for (const container of level) {
      for (const member of Object.values(container ?? {})) {
        if (typeof member === 'object' && member !== null) below.push(member)
      }
    }
    level = below
  }
  return false
}

/** JSON with the fields of every object sorted by bytes, so that equal values are equal strings. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value ?? null)
  const fields = Object.keys(value).sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(',')}}`
}
