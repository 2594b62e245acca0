/** Equality of JSON values. */

/** Whether two values are the same JSON. A field that is `undefined` counts as absent. */
export function jsonEquals(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
    return a.every((item, index) => jsonEquals(item, b[index]))
  }
  const right = new Map<string, unknown>(Object.entries(b))
  let fields = 0
  for (const [field, value] of Object.entries(a)) {
    if (value === undefined) continue
    fields += 1
    if (!jsonEquals(value, right.get(field))) return false
  }
  for (const value of right.values()) if (value !== undefined) fields -= 1
  return fields === 0
}
