/** Converts JSON to CEL values according to the schema. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { canonicalJson, ownEntry, ownField } from '../schema/json-value.ts'
import { objectMetaSchema } from '../schema/object-meta.ts'
import type { Schema } from '../schema/schema.ts'
import { escapeFieldName } from './identifiers.ts'
import { parseDuration, parseTimestamp } from './time.ts'
import { type CelMap, type CelValue, withIdentity } from './values.ts'

/**
 * The CEL value of a part of an object. Declared fields appear under their escaped names, undeclared fields are
 * omitted; entries of maps keep their keys. Where no type is declared, whole numbers are ints.
 */
export function celFromJson(schema: Schema | undefined, value: JsonValue): CelValue {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return numberFromJson(schema, value)
  if (typeof value === 'string') return textFromJson(schema, value)
  if (Array.isArray(value)) return listFromJson(schema, value)
  return objectFromJson(schema, value)
}

function numberFromJson(schema: Schema | undefined, value: number): CelValue {
  const isInt = schema?.type === 'integer' || (schema?.type !== 'number' && Number.isInteger(value))
  return isInt && Number.isInteger(value) ? BigInt(value) : value
}

function textFromJson(schema: Schema | undefined, text: string): CelValue {
  switch (schema?.type === 'string' ? schema.format : undefined) {
    case 'byte':
      return new Uint8Array(Buffer.from(text, 'base64'))
    case 'date':
      return parseTimestamp(`${text}T00:00:00Z`) ?? text
    case 'date-time':
      return parseTimestamp(text) ?? text
    case 'duration':
      return parseDuration(text) ?? text
    default:
      return text
  }
}

function listFromJson(schema: Schema | undefined, list: readonly JsonValue[]): CelValue {
  const items = list.map((item) => celFromJson(schema?.items, item))
  const listType = schema?.['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return items
  const keys = listType === 'map' ? (schema?.['x-kubernetes-list-map-keys'] ?? []) : undefined
  const names = new Map(items.map((item, index) => [item, identityText(list[index] ?? null, keys)]))
  return withIdentity(items, { of: (item) => names.get(item) ?? celIdentity(item, keys) })
}

function identityText(item: JsonValue, keys: readonly string[] | undefined): string {
  if (keys === undefined || !isJsonObject(item)) return canonicalJson(item)
  return canonicalJson(keys.map((key) => ownField(item, key) ?? null))
}

/** The same identity for an item of another list, which is a CEL value already. */
function celIdentity(item: CelValue, keys: readonly string[] | undefined): string {
  if (keys === undefined || !(item instanceof Map)) return canonicalJson(jsonFromCel(item))
  return canonicalJson(keys.map((key) => jsonFromCel(item.get(escapeFieldName(key) ?? key) ?? null)))
}

function jsonFromCel(value: CelValue): JsonValue {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(jsonFromCel)
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, entry]) => [String(key), jsonFromCel(entry)]))
  }
  return null
}

function objectFromJson(schema: Schema | undefined, object: JsonObject): CelMap {
  const map: CelMap = new Map()
  const isMap = schema === undefined || schema.properties === undefined
  const entries = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    if (isMap && !schema?.['x-kubernetes-embedded-resource']) {
      map.set(name, celFromJson(entries, value))
      continue
    }
    const field = fieldSchema(schema, name)
    const identifier = escapeFieldName(name)
    if (field !== undefined && identifier !== undefined) map.set(identifier, celFromJson(field, value))
  }
  return map
}

/** The declared fields and, in an embedded resource, those that every object has. */
function fieldSchema(schema: Schema | undefined, name: string): Schema | undefined {
  const declared = ownEntry(schema?.properties, name)
  if (declared !== undefined || schema?.['x-kubernetes-embedded-resource'] !== true) return declared
  return resourceFields[name]
}

const resourceFields: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: objectMetaSchema,
}
