/**
 * Brings built-in objects into the form that the API server's typed decoding and encoding gives them: values of the
 * wrong type are refused, nulls and empty values that mean nothing are dropped, structs that are always written appear,
 * quantities and times get their one notation.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { MessageField, MessageType } from '../protobuf/messages.ts'
import { canonicalQuantity, QuantityError } from './quantity.ts'
import { canonicalBase64, canonicalTime, DecodeError } from './scalar-forms.ts'

/** Where a value stands, for messages only. */
interface Place {
  /** The struct that has the field. */
  readonly struct: string
  /** Names from the root, without indexes and keys. */
  readonly path: string
  /** As Go prints it. */
  readonly goType: string
}

/**
 * Changes `object`, an object of the kind that `type` describes, in place. Fields that the type does not have are left
 * alone; what reads a request prunes them before.
 *
 * *Errors*: `DecodeError` for a value that its field cannot hold.
 */
export function toTypedForm(type: MessageType, object: JsonObject): void {
  typedFields(type, object, '')
}

function typedFields(type: MessageType, object: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(object)) {
    const field = type.byName.get(name)
    if (field === undefined) continue
    const typed = value === null || value === undefined ? undefined : fieldValue(type, field, value, path)
    if (typed === undefined) delete object[name]
    else object[name] = typed
  }
  for (const field of type.alwaysPresent) {
    if (object[field.name] === undefined) object[field.name] = zeroOf(field)
  }
}

/** The value that stays in the object; `undefined` when the field is left out. */
function fieldValue(parent: MessageType, field: MessageField, value: JsonValue, path: string): JsonValue | undefined {
  const struct = parent.name.slice(parent.name.lastIndexOf('.') + 1)
  const fieldPath = [...(path === '' ? [] : [path]), ...field.embedding, field.name].join('.')
  const element: Place = { struct, path: fieldPath, goType: elementType(field) }
  if (field.cardinality === 'repeated') {
    if (!Array.isArray(value)) throw mismatch(value, { ...element, goType: field.goType ?? `[]${element.goType}` })
    const list = value.map((item) => (item === null ? zeroValue(field) : singleValue(field, item, element)))
    return list.length > 0 ? list : field.isAlways ? null : undefined
  }
  if (field.cardinality === 'map') {
    if (!isJsonObject(value))
      throw mismatch(value, { ...element, goType: field.goType ?? `map[string]${element.goType}` })
    return mapValue(field, value, element)
  }
  const typed = singleValue(field, value, element)
  if (field.isPointer || field.isAlways) return typed
  if (field.isOmittedWhenZero) return isZeroStruct(typed) ? undefined : typed
  return typed === '' || typed === 0 || typed === false ? undefined : typed
}

function mapValue(field: MessageField, map: JsonObject, place: Place): JsonValue | undefined {
  let isEmpty = true
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue
    isEmpty = false
    map[key] = value === null ? zeroValue(field) : singleValue(field, value, place, true)
  }
  return isEmpty ? (field.isAlways ? null : undefined) : map
}

function isZeroStruct(value: JsonValue): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0)
}

function singleValue(field: MessageField, value: JsonValue, place: Place, isInMap = false): JsonValue {
  const { value: type } = field
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : fail(value, place)
    case 'bool':
      return typeof value === 'boolean' ? value : fail(value, place)
    case 'int32':
    case 'int64':
      return integer(value, place, type.kind)
    case 'double':
      return typeof value === 'number' ? value : fail(value, place)
    case 'bytes':
      return typeof value === 'string' ? canonicalBase64(value) : fail(value, { ...place, goType: '[]uint8' })
    case 'message':
      return messageValue(type.message, value, place, isInMap)
  }
}

function messageValue(type: MessageType, value: JsonValue, place: Place, isInMap: boolean): JsonValue {
  switch (type.special) {
    case 'Quantity':
      // Resource lists are the maps of quantities, and the only ones that are rounded.
      return quantity(value, isInMap)
    case 'IntOrString':
      return typeof value === 'string' ? value : integer(value, { ...place, goType: 'int32' }, 'int32')
    case 'Time':
    case 'MicroTime':
      if (typeof value !== 'string') throw mismatch(value, { ...place, goType: 'string' })
      return canonicalTime(value, type.special === 'MicroTime')
    case 'Duration':
      return typeof value === 'string' ? value : fail(value, { ...place, goType: 'string' })
    case 'RawJson':
      return value
    case 'JSONSchemaPropsOr':
      return schemaOr(type, value, place)
    case 'NamedSlice':
      return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : fail(value, place)
    case undefined:
      if (!isJsonObject(value)) throw mismatch(value, place)
      typedFields(type, value, place.path)
      return value
  }
}

/** A schema, several of them, or one of the short forms that stand for one. */
function schemaOr(type: MessageType, value: JsonValue, place: Place): JsonValue {
  const schema = [...type.byNumber.values()].find(({ value: inner }) => inner.kind === 'message')?.value
  if (schema?.kind !== 'message') return value
  for (const item of Array.isArray(value) ? value : [value]) {
    if (isJsonObject(item)) typedFields(schema.message, item, place.path)
  }
  return value
}

function quantity(value: JsonValue, isInResourceList: boolean): string {
  // Anything but a string is read as its JSON text, like the server does.
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value)
  try {
    return canonicalQuantity(text, { milli: isInResourceList })
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message)
    throw error
  }
}

function integer(value: JsonValue, place: Place, kind: 'int32' | 'int64'): number {
  if (typeof value !== 'number') throw mismatch(value, place)
  const isInRange = kind === 'int32' ? value === (value | 0) : Math.abs(value) < 2 ** 63
  if (!Number.isInteger(value) || !isInRange) throw mismatch(value, place, ` ${value}`)
  return value
}

function fail(value: JsonValue, place: Place): never {
  throw mismatch(value, place)
}

function mismatch(value: JsonValue, place: Place, text = ''): DecodeError {
  const field = `${place.struct}.${place.path}`
  return new DecodeError(
    `json: cannot unmarshal ${jsonType(value)}${text} into Go struct field ${field} of type ${place.goType}`,
  )
}

function jsonType(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value
}

/** The Go type of one value of a field. */
function elementType({ value, goType, cardinality }: MessageField): string {
  if (goType !== undefined && cardinality === 'one') return goType
  if (goType?.startsWith('[]')) return goType.slice(2)
  if (value.kind === 'message') return value.message.goType
  return value.kind === 'bytes' ? '[]uint8' : value.kind === 'double' ? 'float64' : value.kind
}

/** What Go writes for a field that was never set. */
function zeroOf(field: MessageField): JsonValue {
  if (field.isPointer || field.cardinality !== 'one') return null
  return zeroValue(field)
}

function zeroValue({ value }: MessageField): JsonValue {
  switch (value.kind) {
    case 'string':
    case 'bytes':
      return ''
    case 'bool':
      return false
    case 'int32':
    case 'int64':
    case 'double':
      return 0
    case 'message':
      return zeroMessage(value.message)
  }
}

function zeroMessage(type: MessageType): JsonValue {
  switch (type.special) {
    case 'Quantity':
      return '0'
    case 'IntOrString':
      return 0
    case 'Duration':
      return '0s'
    case undefined: {
      const zero: JsonObject = {}
      typedFields(type, zero, '')
      return zero
    }
    default:
      return null
  }
}
