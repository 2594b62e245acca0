/** JSON values. */

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
/** An object; a field that is `undefined` counts as absent. */
export interface JsonObject {
  [field: string]: JsonValue | undefined
}

/** Whether `value` is a JSON object, as opposed to a list, a scalar or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A deep copy that may be modified, of a value that may be frozen. */
export function cloneJson<T extends JsonValue | undefined>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  // Both branches return the same shape, which the compiler cannot infer through the generic.
  if (Array.isArray(value)) return value.map(cloneJson) as T
  const copy: JsonObject = {}
  // JSON objects inherit no enumerable properties, and this loop does not allocate a list of the fields.
  for (const field in value) {
    // Plain assignment of a field named __proto__ would change the prototype instead of adding the field.
    if (field === '__proto__')
      Object.defineProperty(copy, field, {
        value: cloneJson(value[field]),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    else copy[field] = cloneJson(value[field])
  }
  return copy as T
}

/** Whether two values are equal as JSON; the order of fields does not matter, absent and `undefined` are equal. */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]))
  }
  if (Array.isArray(b)) return false
  let fields = 0
  for (const field in a) {
    if (a[field] === undefined) continue
    fields += 1
    if (!Object.hasOwn(b, field) || !jsonEqual(a[field], b[field])) return false
  }
  for (const field in b) if (b[field] !== undefined) fields -= 1
  return fields === 0
}

/** The object under `field`, or an empty one that is not attached. */
export function objectAt(object: JsonObject | undefined, field: string): JsonObject {
  const value = object?.[field]
  return isJsonObject(value) ? value : {}
}

/** The string under `field`, or `undefined` when it is absent or has another type. */
export function stringAt(object: JsonObject | undefined, field: string): string | undefined {
  const value = object?.[field]
  return typeof value === 'string' ? value : undefined
}

/** The list under `field`, or an empty one. */
export function arrayAt(object: JsonObject | undefined, field: string): readonly JsonValue[] {
  const value = object?.[field]
  return Array.isArray(value) ? value : []
}
