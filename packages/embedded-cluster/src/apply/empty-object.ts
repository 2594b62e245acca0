/** The object a create is compared with, to find out which fields it sets. */
import type { JsonObject, JsonValue } from '../json.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * The state of an object of this kind in which nobody has set anything. For a built-in kind that is not `{}`: some
 * structs are part of every object (`spec`, `status`, the pod template), and a creator who fills them owns the
 * fields in them but not the struct itself.
 */
export function emptyObject(schema: Schema): JsonObject {
  const object: JsonObject = {}
  if (schema['x-inline'] !== true) return object
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const value = emptyField(field, schema.required?.includes(name) ?? false)
    if (value !== undefined) object[name] = value
  }
  return object
}

function emptyField(schema: Schema, isRequired: boolean): JsonValue | undefined {
  if (schema['x-inline']) return emptyObject(schema)
  if (!isRequired) return undefined
  return schema.default ?? null
}
