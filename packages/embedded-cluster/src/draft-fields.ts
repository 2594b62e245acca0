/** Helpers for drafts of objects, which are modified in place. */
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'

/** The object under `field`, created when it is absent. */
export function ensureObject(parent: JsonObject, field: string): JsonObject {
  const value = parent[field]
  if (isJsonObject(value)) return value
  const created: JsonObject = {}
  parent[field] = created
  return created
}

/** Sets `field` unless it has a value; an empty string counts as no value, as in Go's typed objects. */
export function setDefault(parent: JsonObject, field: string, value: JsonValue): void {
  const current = parent[field]
  if (current === undefined || current === null || current === '') parent[field] = value
}

/** Sets several fields as {@link setDefault} does. */
export function setDefaults(parent: JsonObject, values: Readonly<Record<string, JsonValue>>): void {
  for (const [field, value] of Object.entries(values)) setDefault(parent, field, value)
}

/** The objects in the list under `field`. */
export function objectsIn(parent: JsonObject | undefined, field: string): readonly JsonObject[] {
  const list = parent?.[field]
  return Array.isArray(list) ? list.filter(isJsonObject) : []
}

/** Calls `change` with the object under `field`, if there is one. */
export function withObject(parent: JsonObject, field: string, change: (value: JsonObject) => void): void {
  const value = parent[field]
  if (isJsonObject(value)) change(value)
}
