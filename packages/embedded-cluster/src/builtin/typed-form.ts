/**
 * Brings built-in objects into the form that the API server's typed decoding and encoding gives them: values of the
 * wrong type are refused, nulls and empty values that mean nothing are dropped, structs that are always written appear,
 * quantities and times get their one notation.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { MessageField, MessageType } from '../protobuf/messages.ts'
import { canonicalQuantity, QuantityError } from './quantity.ts'
import { canonicalBase64, canonicalTime, DecodeError } from './scalar-forms.ts'
import { zeroOf, zeroValue } from './zero-values.ts'

/** Options of {@link toTypedForm}. */
export interface TypedFormOptions {
  /**
   * Whether a list without entries stays one where the field is always written, instead of becoming null as it does in
   * storage. Who sends an empty list owns the field.
   * @default false
   */
  readonly keepsEmptyLists?: boolean
}

/**
 * Changes `object`, an object of the kind that `type` describes, in place. Fields that the type does not have are left
 * alone; what reads a request prunes them before. Parts that have the form already are not written to, so they may be
 * frozen.
 *
 * *Errors*: `DecodeError` for a value that its field cannot hold.
 */
export function toTypedForm(type: MessageType, object: JsonObject, options: TypedFormOptions = {}): void {
  new TypedWalk(options).fields(type, object, '')
}

/** Where a value stands, for messages only. */
interface Place {
  /** The struct that has the field. */
  readonly struct: string
  /** Names from the root, without indexes and keys. */
  readonly path: string
  /** As Go prints it. */
  readonly goType: string
}

class TypedWalk {
  readonly #keepsEmptyLists: boolean

  constructor({ keepsEmptyLists = false }: TypedFormOptions) {
    this.#keepsEmptyLists = keepsEmptyLists
  }

  fields(type: MessageType, object: JsonObject, path: string): void {
    for (const [name, value] of Object.entries(object)) {
      const field = type.byName.get(name)
      if (field === undefined) continue
      const typed = value === null || value === undefined ? undefined : this.#field(type, field, value, path)
      if (typed === undefined) {
        if (value !== null || !isNullKept(field)) delete object[name]
      } else if (typed !== value) object[name] = typed
    }
    for (const field of type.alwaysPresent) {
      if (object[field.name] === undefined) object[field.name] = zeroOf(field)
    }
  }

  /** The value that stays in the object; `undefined` when the field is left out. */
  #field(parent: MessageType, field: MessageField, value: JsonValue, path: string): JsonValue | undefined {
    const struct = parent.name.slice(parent.name.lastIndexOf('.') + 1)
    const fieldPath = [...(path === '' ? [] : [path]), ...field.embedding, field.name].join('.')
    const place: Place = { struct, path: fieldPath, goType: elementType(field) }
    if (field.cardinality === 'repeated') return this.#list(field, value, place)
    if (field.cardinality === 'map') return this.#map(field, value, place)
    const typed = this.#value(field, value, place)
    if (field.isPointer || field.isAlways) return typed
    if (field.isOmittedWhenZero) return isZeroStruct(typed) ? undefined : typed
    return typed === '' || typed === 0 || typed === false ? undefined : typed
  }

  #list(field: MessageField, value: JsonValue, place: Place): JsonValue | undefined {
    if (!Array.isArray(value)) throw mismatch(value, { ...place, goType: field.goType ?? `[]${place.goType}` })
    for (const [index, item] of value.entries()) {
      const typed = item === null ? zeroValue(field) : this.#value(field, item, place)
      if (typed !== item) value[index] = typed
    }
    if (value.length > 0 || (field.isAlways && this.#keepsEmptyLists)) return value
    return field.isAlways ? null : undefined
  }

  #map(field: MessageField, value: JsonValue, place: Place): JsonValue | undefined {
    if (!isJsonObject(value)) throw mismatch(value, { ...place, goType: field.goType ?? `map[string]${place.goType}` })
    let isEmpty = true
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      isEmpty = false
      const typed = item === null ? zeroValue(field) : this.#value(field, item, place, true)
      if (typed !== item) value[key] = typed
    }
    if (!isEmpty) return value
    return field.isAlways ? null : undefined
  }

  #value({ value: type }: MessageField, value: JsonValue, place: Place, isInMap = false): JsonValue {
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
        return this.#message(type.message, value, place, isInMap)
    }
  }

  #message(type: MessageType, value: JsonValue, place: Place, isInMap: boolean): JsonValue {
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
        return this.#schemaOr(type, value, place)
      case 'NamedSlice':
        return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : fail(value, place)
      case undefined:
        if (!isJsonObject(value)) throw mismatch(value, place)
        this.fields(type, value, place.path)
        return value
    }
  }

  /** A schema, several of them, or one of the short forms that stand for one. */
  #schemaOr(type: MessageType, value: JsonValue, place: Place): JsonValue {
    const schema = [...type.byNumber.values()].find(({ value: inner }) => inner.kind === 'message')?.value
    if (schema?.kind !== 'message') return value
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isJsonObject(item)) this.fields(schema.message, item, place.path)
    }
    return value
  }
}

/** The zero time is written as null where a struct by value is always written. */
function isNullKept(field: MessageField): boolean {
  return (field.isAlways && (field.isPointer || field.cardinality !== 'one')) || isTimeByValue(field)
}

function isTimeByValue({ value, isPointer, isOmittedWhenZero }: MessageField): boolean {
  if (value.kind !== 'message' || isPointer || isOmittedWhenZero) return false
  return value.message.special === 'Time' || value.message.special === 'MicroTime'
}

function isZeroStruct(value: JsonValue): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0)
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
