/** Finds duplicate items in lists that are sets or have keys. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { duplicate } from './field-error.ts'
import { canonicalJson, ownEntry, ownField } from './json-value.ts'
import type { Schema } from './schema.ts'

/** One error per duplicate item. */
export function duplicateErrors(schema: Schema, object: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  visit(schema, object, '', errors)
  return errors
}

function visit(schema: Schema, value: JsonValue, path: string, errors: FieldError[]): void {
  if (Array.isArray(value)) {
    visitList(schema, value, path, errors)
  } else if (isJsonObject(value)) {
    const additional = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
    for (const name in value) {
      const field = value[name]
      const type = ownEntry(schema.properties, name) ?? additional
      if (type === undefined || typeof field !== 'object' || field === null) continue
      visit(type, field, path === '' ? name : `${path}.${name}`, errors)
    }
  }
}

function visitList(schema: Schema, list: readonly JsonValue[], path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set' || listType === 'map') {
    const keys = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined
    const seen = new Set<string>()
    for (const [index, item] of list.entries()) {
      const identity = keys === undefined ? item : keyValues(keys, item)
      const text = canonicalJson(identity)
      if (seen.has(text)) errors.push(duplicate(`${path}[${index}]`, identity))
      seen.add(text)
    }
  }
  if (schema.items === undefined) return
  for (const [index, item] of list.entries()) visit(schema.items, item, `${path}[${index}]`, errors)
}

function keyValues(keys: readonly string[], item: JsonValue): JsonValue {
  if (!isJsonObject(item)) return item
  const values: JsonObject = {}
  for (const key of [...keys].sort()) {
    const value = ownField(item, key)
    if (value !== undefined) values[key] = value
  }
  return values
}
