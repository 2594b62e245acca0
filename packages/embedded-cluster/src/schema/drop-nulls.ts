/** Removes nulls from objects of built-in kinds, where they mean absence. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, setField } from './json-value.ts'
import type { Schema } from './schema.ts'

/**
 * The object without nulls: a null field is an absent field, a null in a list or map is the zero value of its type.
 *
 * *Guarantees*: the input is not modified, and unchanged parts are shared with the result.
 */
export function dropNulls(schema: Schema | undefined, object: JsonObject): JsonObject {
  return schema === undefined ? object : dropFromObject(schema, object)
}

function dropNull(schema: Schema, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return schema.items === undefined ? value : dropFromList(schema.items, value)
  return isJsonObject(value) ? dropFromObject(schema, value) : value
}

function dropFromList(items: Schema, list: JsonValue[]): JsonValue[] {
  let changed: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const next = item === null ? zeroValue(items) : dropNull(items, item)
    if (next === item) continue
    changed ??= [...list]
    changed[index] = next
  }
  return changed ?? list
}

function dropFromObject(schema: Schema, object: JsonObject): JsonObject {
  let changed: JsonObject | undefined
  const additional = schema.additionalProperties
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const declared = ownEntry(schema.properties, name)
    let next: JsonValue | undefined = value
    if (declared !== undefined) next = value === null ? undefined : dropNull(declared, value)
    else if (typeof additional === 'object') next = value === null ? zeroValue(additional) : dropNull(additional, value)
    if (next === value) continue
    changed ??= { ...object }
    if (next === undefined) delete changed[name]
    else setField(changed, name, next)
  }
  return changed ?? object
}

function zeroValue(schema: Schema): JsonValue {
  if (schema['x-kubernetes-int-or-string']) return schema.format === 'quantity' ? '0' : 0
  switch (schema.type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case 'object':
      return {}
    default:
      return null
  }
}
