/** Drops fields a schema does not declare. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ownEntry, setField } from './json-value.ts'
import { objectMetaSchema } from './object-meta.ts'
import type { Schema } from './schema.ts'

/** What pruning did. */
export interface Pruned {
  /** The input itself when nothing had to go. */
  readonly object: JsonObject
  /** Paths of dropped fields, such as `spec.template.spec.containers[0].imagee`. */
  readonly unknown: string[]
}

/**
 * Removes undeclared fields. `apiVersion`, `kind` and `metadata` of the object and of every embedded resource are
 * always known, whatever the schema says about them.
 *
 * *Guarantees*: the input is not changed and shares its untouched parts with the result.
 */
export function prune(schema: Schema | undefined, object: JsonObject): Pruned {
  const unknown: string[] = []
  if (schema === undefined) return { object, unknown }
  const pruned = pruneObject(schema, object, '', true, unknown)
  // The API server names unknown fields of built-in objects as they come, those of custom resources in order.
  return { object: pruned, unknown: schema['x-inline'] ? unknown : unknown.sort() }
}

/** Paths of the fields in a part of an object that its schema does not declare. */
export function unknownFields(schema: Schema, value: JsonValue): string[] {
  const unknown: string[] = []
  pruneValue(schema, value, '', unknown)
  return unknown
}

function pruneValue(schema: Schema, value: JsonValue, path: string, unknown: string[]): JsonValue {
  if (Array.isArray(value)) {
    const items = schema.items
    return items === undefined ? value : pruneItems(items, value, path, unknown)
  }
  if (!isJsonObject(value)) return value
  return pruneObject(schema, value, path, schema['x-kubernetes-embedded-resource'] === true, unknown)
}

function pruneItems(items: Schema, list: JsonValue[], path: string, unknown: string[]): JsonValue[] {
  let pruned: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    const kept = pruneValue(items, item, `${path}[${index}]`, unknown)
    if (kept === item) continue
    pruned ??= [...list]
    pruned[index] = kept
  }
  return pruned ?? list
}

function pruneObject(
  schema: Schema,
  object: JsonObject,
  path: string,
  isResource: boolean,
  unknown: string[],
): JsonObject {
  let pruned: JsonObject | undefined
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const fieldPath = path === '' ? name : `${path}.${name}`
    const field = isResource ? resourceField(schema, name) : fieldSchema(schema, name)
    const kept =
      field === undefined ? undefined : field === 'any' ? value : pruneValue(field, value, fieldPath, unknown)
    if (kept === value) continue
    pruned ??= { ...object }
    if (kept === undefined) {
      unknown.push(fieldPath)
      delete pruned[name]
    } else {
      setField(pruned, name, kept)
    }
  }
  return pruned ?? object
}

function resourceField(schema: Schema, name: string): Schema | 'any' | undefined {
  if (name === 'apiVersion' || name === 'kind') return 'any'
  return name === 'metadata' ? objectMetaSchema : fieldSchema(schema, name)
}

/** The schema to prune a field by, `'any'` when everything in it stays, `undefined` when the field goes. */
function fieldSchema(schema: Schema, name: string): Schema | 'any' | undefined {
  const declared = ownEntry(schema.properties, name)
  if (declared !== undefined) return declared
  const additional = schema.additionalProperties
  if (typeof additional === 'object') return additional
  return additional === true || schema['x-kubernetes-preserve-unknown-fields'] ? 'any' : undefined
}
