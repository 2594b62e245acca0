/**
 * Converts built-in objects to the form that the API server's typed decoding and encoding gives them: values of the
 * wrong type are rejected, nulls and meaningless empty values are dropped, structs that are always encoded are added,
 * quantities and times get their canonical format.
 */

import { canonicalQuantity, QuantityError } from '../api/quantity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { MessageField, MessageType } from './messages.ts'
import { canonicalBase64, canonicalTime, DecodeError } from './scalar-forms.ts'
import { zeroOf, zeroValue } from './zero-values.ts'

/** Options of {@link toTypedForm}. */
export interface TypedFormOptions {
  /**
   * Whether an empty list is kept where the field is always encoded, instead of becoming null as in storage. A client
   * that sends an empty list owns the field.
   * @default false
   */
  readonly keepsEmptyLists?: boolean
}

/**
 * Converts `object`, an object of the kind `type`, in place. Fields that the type does not have are not changed; the
 * request decoder prunes them before. Frozen parts are assumed to have the form already.
 *
 * *Errors*: `DecodeError` for a value of the wrong type.
 */
export function toTypedForm(type: MessageType, object: JsonObject, options: TypedFormOptions = {}): void {
  new TypedWalk(options).fields(type, object, undefined)
}

/** The structs above a value, only used for messages: the path is only formatted for an error. */
interface Trail {
  readonly up: Trail | undefined
  readonly parent: MessageType
  readonly field: MessageField
}

class TypedWalk {
  readonly #keepsEmptyLists: boolean

  constructor({ keepsEmptyLists = false }: TypedFormOptions) {
    this.#keepsEmptyLists = keepsEmptyLists
  }

  fields(type: MessageType, object: JsonObject, up: Trail | undefined): void {
    for (const name in object) {
      const field = type.byName.get(name)
      if (field === undefined) continue
      const value = object[name]
      const typed = value === null || value === undefined ? undefined : this.#field(field, value, type, up)
      if (typed === undefined) {
        if (value !== null || !isNullKept(field)) delete object[name]
      } else if (typed !== value) object[name] = typed
    }
    for (const field of type.alwaysPresent) {
      if (object[field.name] === undefined) object[field.name] = zeroOf(field)
    }
  }

  /** The value to keep in the object; `undefined` to omit the field. */
  #field(field: MessageField, value: JsonValue, parent: MessageType, up: Trail | undefined): JsonValue | undefined {
    const trail = { up, parent, field }
    if (field.cardinality === 'repeated') return this.#list(value, trail)
    if (field.cardinality === 'map') return this.#map(value, trail)
    const typed = this.#value(value, trail)
    if (field.isPointer || field.isAlways) return typed
    if (field.isOmittedWhenZero) return isZeroStruct(typed) ? undefined : typed
    return typed === '' || typed === 0 || typed === false ? undefined : typed
  }

  #list(value: JsonValue, trail: Trail): JsonValue | undefined {
    const { field } = trail
    if (!Array.isArray(value)) throw mismatch(value, trail, field.goType ?? `[]${elementType(field)}`)
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index]
      const typed = item === null || item === undefined ? zeroValue(field) : this.#value(item, trail)
      if (typed !== item) value[index] = typed
    }
    if (value.length > 0 || (field.isAlways && this.#keepsEmptyLists)) return value
    return field.isAlways ? null : undefined
  }

  #map(value: JsonValue, trail: Trail): JsonValue | undefined {
    const { field } = trail
    if (!isJsonObject(value)) throw mismatch(value, trail, field.goType ?? `map[string]${elementType(field)}`)
    let isEmpty = true
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      isEmpty = false
      const typed = item === null ? zeroValue(field) : this.#value(item, trail, true)
      if (typed !== item) value[key] = typed
    }
    if (!isEmpty) return value
    return field.isAlways ? null : undefined
  }

  #value(value: JsonValue, trail: Trail, isInMap = false): JsonValue {
    const type = trail.field.value
    switch (type.kind) {
      case 'string':
        return typeof value === 'string' ? value : fail(value, trail)
      case 'bool':
        return typeof value === 'boolean' ? value : fail(value, trail)
      case 'int32':
      case 'int64':
        return integer(value, trail, type.kind, elementType(trail.field))
      case 'double':
        return typeof value === 'number' ? value : fail(value, trail)
      case 'bytes':
        return typeof value === 'string' ? canonicalBase64(value) : fail(value, trail, '[]uint8')
      case 'message':
        return this.#message(type.message, value, trail, isInMap)
    }
  }

  #message(type: MessageType, value: JsonValue, trail: Trail, isInMap: boolean): JsonValue {
    switch (type.special) {
      case 'Quantity':
        // Resource lists are the only maps of quantities, and the only values that are rounded.
        return quantity(value, isInMap)
      case 'IntOrString':
        return typeof value === 'string' ? value : integer(value, trail, 'int32', 'int32')
      case 'Time':
      case 'MicroTime':
        if (typeof value !== 'string') throw mismatch(value, trail, 'string')
        return canonicalTime(value, type.special === 'MicroTime')
      case 'Duration':
        return typeof value === 'string' ? value : fail(value, trail, 'string')
      case 'RawJson':
        return value
      case 'JSONSchemaPropsOr':
        return this.#schemaOr(type, value, trail)
      case 'NamedSlice':
        return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : fail(value, trail)
      case undefined:
        if (!isJsonObject(value)) throw mismatch(value, trail, elementType(trail.field))
        // Frozen parts come from the store, where they already have the form.
        if (!Object.isFrozen(value)) this.fields(type, value, trail)
        return value
    }
  }

  /** A schema, several of them, or one of the short forms of one. */
  #schemaOr(type: MessageType, value: JsonValue, trail: Trail): JsonValue {
    const schema = [...type.byNumber.values()].find(({ value: inner }) => inner.kind === 'message')?.value
    if (schema?.kind !== 'message') return value
    for (const item of Array.isArray(value) ? value : [value]) {
      if (isJsonObject(item)) this.fields(schema.message, item, trail)
    }
    return value
  }
}

/** The zero time is encoded as null where a struct by value is always encoded. */
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
  // Anything but a string is parsed from its JSON text, as in the server.
  const text = typeof value === 'string' ? value.trim() : JSON.stringify(value)
  try {
    return canonicalQuantity(text, { milli: isInResourceList })
  } catch (error) {
    if (error instanceof QuantityError) throw new DecodeError(error.message)
    throw error
  }
}

function integer(value: JsonValue, trail: Trail, kind: 'int32' | 'int64', goType: string): number {
  if (typeof value !== 'number') throw mismatch(value, trail, goType)
  const isInRange = kind === 'int32' ? value === (value | 0) : Math.abs(value) < 2 ** 63
  if (!Number.isInteger(value) || !isInRange) throw mismatch(value, trail, goType, ` ${value}`)
  return value
}

function fail(value: JsonValue, trail: Trail, goType = elementType(trail.field)): never {
  throw mismatch(value, trail, goType)
}

function mismatch(value: JsonValue, trail: Trail, goType: string, text = ''): DecodeError {
  const struct = trail.parent.name.slice(trail.parent.name.lastIndexOf('.') + 1)
  const field = `${struct}.${pathOf(trail).join('.')}`
  return new DecodeError(
    `json: cannot unmarshal ${jsonType(value)}${text} into Go struct field ${field} of type ${goType}`,
  )
}

/** Names from the root, without indexes and keys. */
function pathOf({ up, field }: Trail): string[] {
  return [...(up === undefined ? [] : pathOf(up)), ...field.embedding, field.name]
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
