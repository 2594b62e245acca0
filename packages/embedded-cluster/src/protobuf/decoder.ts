/** Decodes protobuf bodies of typed Go clients into the equivalent JSON. */

import { builtinMessageTypes, type MessageField, type MessageType, type MessageTypes } from '../builtin/messages.ts'
import { DecodeError } from '../builtin/scalar-forms.ts'
import { toTypedForm } from '../builtin/typed-form.ts'
import { isJsonObject, type JsonObject, type JsonValue, stringAt } from '../json.ts'
import { specialJson } from './special-messages.ts'
import { MalformedProtobuf, WireReader, wireTypes } from './wire-reader.ts'

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00)
const envelope = 'k8s.io.apimachinery.pkg.runtime.Unknown'
/** Only the schema of a CustomResourceDefinition can be nested deeper than any kind. */
const MAX_DEPTH = 200
/**
 * An encoded field takes at least two bytes and its object a hundred: without a limit a small body could exhaust the
 * memory.
 */
const MAX_VALUES = 300_000
const decoder = new TextDecoder()

/**
 * A decoder that loads the type descriptions in this package on first use.
 *
 * @example
 * loadProtobufDecoder().decode(bytes) // { apiVersion: 'v1', kind: 'ConfigMap', metadata: … }
 */
export function loadProtobufDecoder(): ProtobufDecoder {
  return new ProtobufDecoder(builtinMessageTypes)
}

/** Decodes by type descriptions, so that there is no generated code. */
export class ProtobufDecoder {
  readonly #types: () => MessageTypes

  constructor(types: () => MessageTypes) {
    this.#types = types
  }

  /** The object in `bytes`. Throws {@link MalformedProtobuf} if it cannot be decoded. */
  decode(bytes: Uint8Array): JsonObject {
    return this.#decode(bytes, new Walk(0, (nested, walk) => this.#decode(nested, walk)))
  }

  #decode(bytes: Uint8Array, walk: Walk): JsonObject {
    if (!startsWithMagic(bytes)) {
      const prefix = `[${magic.join(' ')}]`
      throw new MalformedProtobuf(`provided data does not appear to be a protobuf message, expected prefix ${prefix}`)
    }
    const types = this.#types()
    const unknownType = types.named(envelope)
    if (unknownType === undefined) throw new Error(`the protobuf data does not define ${envelope}`)
    const unknown: JsonObject = {}
    walk.message(unknownType, bytes.subarray(magic.length), unknown)
    const typeMeta = isJsonObject(unknown.typeMeta) ? unknown.typeMeta : {}
    const [apiVersion = '', kind = ''] = [stringAt(typeMeta, 'apiVersion'), stringAt(typeMeta, 'kind')]
    const type = types.ofKind(apiVersion, kind)
    if (type === undefined) {
      throw new MalformedProtobuf(
        `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`,
      )
    }
    const object: JsonObject = { kind, apiVersion }
    const raw = Buffer.from(stringAt(unknown, 'raw') ?? '', 'base64')
    try {
      walk.message(type, raw, object)
      // Go encodes plain fields even when they are empty; its JSON omits them.
      toTypedForm(type, object, { keepsEmptyLists: true })
    } catch (error) {
      if (!(error instanceof MalformedProtobuf || error instanceof DecodeError)) throw error
      const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
      throw new MalformedProtobuf(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`)
    }
    return object
  }
}

function startsWithMagic(bytes: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte)
}

/** One traversal of a body; counts values and depth. */
class Walk {
  readonly #decodeNested: (bytes: Uint8Array, walk: Walk) => JsonObject
  #depth: number
  #values = 0

  constructor(depth: number, decodeNested: (bytes: Uint8Array, walk: Walk) => JsonObject) {
    this.#depth = depth
    this.#decodeNested = decodeNested
  }

  /** Decodes the fields of a message into `object`, in addition to existing fields. */
  message(type: MessageType, bytes: Uint8Array, object: JsonObject): void {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw new MalformedProtobuf('proto: the message is nested too deep')
    const reader = new WireReader(bytes)
    while (!reader.isAtEnd) {
      const tag = reader.tag()
      const field = type.byNumber.get(tag.field)
      if (field === undefined) reader.skip(tag.type)
      else this.#field(field, reader, tag.type, object)
    }
    this.#depth -= 1
  }

  #field(field: MessageField, reader: WireReader, wireType: number, object: JsonObject): void {
    const { name, cardinality } = field
    this.#values += 1
    if (this.#values > MAX_VALUES) throw new MalformedProtobuf('proto: the message has too many values')
    if (cardinality === 'map') {
      expectType(field, wireType, wireTypes.bytes)
      this.#entry(field, reader.bytes(), object)
    } else if (cardinality === 'repeated') {
      const list = Array.isArray(object[name]) ? object[name] : []
      this.#elements(field, reader, wireType, list)
      object[name] = list
    } else if (name === '') {
      expectType(field, wireType, wireTypes.bytes)
      // An embedded struct: its fields belong to its parent.
      if (field.value.kind === 'message') this.message(field.value.message, reader.bytes(), object)
    } else object[name] = this.#value(field, reader, wireType, object[name])
  }

  #entry(field: MessageField, bytes: Uint8Array, object: JsonObject): void {
    const reader = new WireReader(bytes)
    let key = ''
    let value: JsonValue = null
    while (!reader.isAtEnd) {
      const tag = reader.tag()
      if (tag.field === 1) {
        expectType(field, tag.type, wireTypes.bytes)
        key = decoder.decode(reader.bytes())
      } else if (tag.field === 2) value = this.#value(field, reader, tag.type, undefined)
      else reader.skip(tag.type)
    }
    const known = object[field.name]
    const map = isJsonObject(known) ? known : {}
    // A key such as __proto__ must become an ordinary property.
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true })
    object[field.name] = map
  }

  /** One element, or many packed numbers. */
  #elements(field: MessageField, reader: WireReader, wireType: number, list: JsonValue[]): void {
    const isNumber = !['string', 'bytes', 'message'].includes(field.value.kind)
    if (!isNumber || wireType !== wireTypes.bytes) {
      list.push(this.#value(field, reader, wireType, undefined))
      return
    }
    const packed = new WireReader(reader.bytes())
    const elementType = field.value.kind === 'double' ? wireTypes.fixed64 : wireTypes.varint
    while (!packed.isAtEnd) list.push(this.#value(field, packed, elementType, undefined))
  }

  #value(field: MessageField, reader: WireReader, wireType: number, previous: JsonValue | undefined): JsonValue {
    const { value } = field
    switch (value.kind) {
      case 'bool':
        expectType(field, wireType, wireTypes.varint)
        return reader.bool()
      case 'int32':
      case 'int64':
        expectType(field, wireType, wireTypes.varint)
        return reader.integer()
      case 'double':
        expectType(field, wireType, wireTypes.fixed64)
        return reader.double()
      case 'string':
        expectType(field, wireType, wireTypes.bytes)
        return decoder.decode(reader.bytes())
      case 'bytes':
        expectType(field, wireType, wireTypes.bytes)
        return Buffer.from(reader.bytes()).toString('base64')
      case 'message':
        expectType(field, wireType, wireTypes.bytes)
        return this.#messageValue(value.message, reader.bytes(), previous)
    }
  }

  #messageValue(type: MessageType, bytes: Uint8Array, previous: JsonValue | undefined): JsonValue {
    const isMerged = type.special === undefined && isJsonObject(previous)
    const fields: JsonObject = isMerged ? previous : {}
    this.message(type, bytes, fields)
    if (type.special === undefined) return fields
    return specialJson(type.special, type.name, { fields, embedded: (raw) => this.#embedded(raw) })
  }

  #embedded(raw: Uint8Array): JsonValue {
    if (startsWithMagic(raw)) return this.#decodeNested(raw, this)
    try {
      const value: JsonValue = JSON.parse(decoder.decode(raw))
      return value
    } catch {
      throw new MalformedProtobuf('an embedded value is neither JSON nor protobuf')
    }
  }
}

function expectType(field: MessageField, actual: number, expected: number): void {
  if (actual === expected) return
  throw new MalformedProtobuf(`proto: wrong wireType = ${actual} for field ${field.name}`)
}
