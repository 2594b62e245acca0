/** Fills in the defaults a schema declares. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, ownField, setField } from './json-value.ts'
import type { Schema } from './schema.ts'

/**
 * Sets absent fields to their default, inside defaults too. A null where the schema does not allow null counts as
 * absent: it is dropped, then defaulted.
 *
 * *Guarantees*: the input is not changed and shares its untouched parts with the result.
 */
export function applyDefaults(schema: Schema | undefined, object: JsonObject): JsonObject {
  return schema === undefined ? object : defaultObject(schema, object)
}

function defaultValue(schema: Schema, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return schema.items === undefined ? value : defaultItems(schema.items, value)
  return isJsonObject(value) ? defaultObject(schema, value) : value
}

function defaultItems(items: Schema, list: JsonValue[]): JsonValue[] {
  let defaulted: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const next = defaultEntry(items, item)
    if (next === item) continue
    defaulted ??= [...list]
    defaulted[index] = next
  }
  return defaulted ?? list
}

/** An item or map entry: it exists, so there is nothing to drop, but a null may stand for the default. */
function defaultEntry(schema: Schema, value: JsonValue): JsonValue {
  const present = value === null && schema.nullable !== true ? (schema.default ?? null) : value
  return defaultValue(schema, present)
}

function defaultObject(schema: Schema, object: JsonObject): JsonObject {
  let defaulted: JsonObject | undefined
  const edit = (): JsonObject => {
    defaulted ??= { ...object }
    return defaulted
  }
  const { properties, additionalProperties } = schema
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const declared = ownEntry(properties, name)
    if (declared === undefined) {
      if (typeof additionalProperties !== 'object') continue
      const next = defaultEntry(additionalProperties, value)
      if (next !== value) setField(edit(), name, next)
    } else if (value === null && isDroppedNull(declared)) {
      delete edit()[name]
    } else {
      const next = defaultValue(declared, value)
      if (next !== value) setField(edit(), name, next)
    }
  }
  for (const name in properties) {
    const declared = properties[name]
    if (declared?.default === undefined || ownField(defaulted ?? object, name) !== undefined) continue
    setField(edit(), name, defaultValue(declared, declared.default))
  }
  return defaulted ?? object
}

/** Untyped fields take any value, null included. */
function isDroppedNull(schema: Schema): boolean {
  if (schema.nullable === true) return false
  return schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true
}
