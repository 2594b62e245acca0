/** Decodes objects of built-in kinds: refuses values of the wrong type, and reads null as the absence it means there. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { matchesFormat } from './formats.ts'
import { ownEntry, setField } from './json-value.ts'
import type { Schema } from './schema.ts'

const quantity = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+|[KMGTPE]i|[numkMGTPE])?$/
const quantityRule = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"

/**
 * Checks the types of all known fields.
 *
 * *Errors*: StatusError 400 with the first field that cannot be decoded, in the words of the API server.
 */
export function checkBuiltInTypes(schema: Schema | undefined, object: JsonObject): void {
  if (schema === undefined) return
  try {
    check(schema, object, { path: '', struct: '' })
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const kind = String(object.kind)
    const version = String(object.apiVersion).split('/').at(-1)
    throw new StatusError(
      400,
      'BadRequest',
      `${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`,
    )
  }
}

/**
 * The object without nulls: a null field is an absent field, a null in a list or map is the zero value of its type.
 *
 * *Guarantees*: the input is not changed and shares its untouched parts with the result.
 */
export function dropNulls(schema: Schema | undefined, object: JsonObject): JsonObject {
  return schema === undefined ? object : dropFromObject(schema, object)
}

class DecodeError extends Error {}

/** Where a value is: the dotted path without list indices, and the struct that declares its last field. */
interface Place {
  readonly path: string
  readonly struct: string
}

function check(schema: Schema, value: JsonValue, place: Place): void {
  if (value === null) return
  if (schema['x-kubernetes-int-or-string']) {
    if (schema.format === 'quantity') checkQuantity(value)
    else if (typeof value !== 'string' && !isInteger(value, 'int32')) throw mismatch(value, place, 'int32')
    return
  }
  switch (schema.type) {
    case 'object':
      checkObject(schema, value, place)
      return
    case 'array':
      if (!Array.isArray(value)) throw mismatch(value, place, typeName(schema))
      if (schema.items !== undefined) for (const item of value) check(schema.items, item, place)
      return
    case 'string':
      checkText(schema, value, place)
      return
    case 'integer':
      if (!isInteger(value, schema.format)) throw mismatch(value, place, typeName(schema))
      return
    case 'number':
      if (typeof value !== 'number') throw mismatch(value, place, 'float64')
      return
    case 'boolean':
      if (typeof value !== 'boolean') throw mismatch(value, place, 'bool')
      return
    default:
  }
}

function checkObject(schema: Schema, value: JsonValue, { path, struct }: Place): void {
  if (!isJsonObject(value)) throw mismatch(value, { path, struct }, typeName(schema))
  const name = schema['x-type-name']
  const additional = schema.additionalProperties
  for (const field in value) {
    const child = value[field]
    if (child === undefined) continue
    const declared = ownEntry(schema.properties, field)
    if (declared !== undefined) {
      check(declared, child, {
        path: path === '' ? field : `${path}.${field}`,
        struct: name?.split('.').at(-1) ?? struct,
      })
    } else if (typeof additional === 'object') {
      check(additional, child, { path, struct })
    }
  }
}

function checkText(schema: Schema, value: JsonValue, place: Place): void {
  if (typeof value !== 'string') throw mismatch(value, place, 'string')
  if (schema.format === 'byte' && value !== '' && !matchesFormat('byte', value)) {
    throw new DecodeError(`illegal base64 data in ${place.path}`)
  }
  if (schema.format === 'date-time' && !matchesFormat('date-time', value)) {
    throw new DecodeError(
      `parsing time ${JSON.stringify(value)} in ${place.path}: not in the form 2006-01-02T15:04:05Z`,
    )
  }
}

function checkQuantity(value: JsonValue): void {
  const isQuantity = typeof value === 'number' || (typeof value === 'string' && quantity.test(value))
  if (!isQuantity) throw new DecodeError(quantityRule)
}

function isInteger(value: JsonValue, format: string | undefined): boolean {
  if (typeof value !== 'number' || !Number.isInteger(value)) return false
  return format === 'int64' ? Math.abs(value) < 2 ** 63 : value >= -(2 ** 31) && value < 2 ** 31
}

function mismatch(value: JsonValue, { path, struct }: Place, expected: string): DecodeError {
  const field = path === '' ? 'Go value' : `Go struct field ${struct}.${path}`
  return new DecodeError(`json: cannot unmarshal ${describe(value, expected)} into ${field} of type ${expected}`)
}

function describe(value: JsonValue, expected: string): string {
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  if (typeof value === 'boolean') return 'bool'
  // A number is spelled out only where another number would have fitted.
  return typeof value === 'number' && expected.startsWith('int') ? `number ${value}` : typeof value
}

function typeName(schema: Schema): string {
  switch (schema.type) {
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : typeName(schema.items)}`
    case 'integer':
      return schema.format ?? 'int64'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'string':
      return 'string'
    default:
      if (schema['x-type-name'] !== undefined) return schema['x-type-name']
      return `map[string]${typeof schema.additionalProperties === 'object' ? typeName(schema.additionalProperties) : 'interface {}'}`
  }
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
