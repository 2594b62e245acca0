/** Equality of the JSON inside typed objects. */
import { type JsonValue, jsonEqual } from '../json.ts'

/** Whether two values are the same JSON. A field that is `undefined` counts as absent. */
export function jsonEquals(a: unknown, b: unknown): boolean {
  // Typed objects are JSON too; their interfaces only lack the index signature that would say so.
  return jsonEqual(a as JsonValue | undefined, b as JsonValue | undefined)
}
