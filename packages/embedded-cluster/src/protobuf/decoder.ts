/** Decodes the protobuf bodies that typed Go clients send, into the JSON they would have sent instead. */
import { readFileSync } from 'node:fs'
import type { JsonObject, JsonValue } from '../json.ts'
import { specialForm } from './special-messages.ts'
import { MalformedProtobuf, WireReader } from './wire-reader.ts'

/** `[JSON name, type, cardinality]`; the name is empty for embedded structs and named slices. */
type Field = readonly [name: string, type: string, cardinality?: 'repeated' | 'map']

/** Messages of the built-in kinds, as `data/protobuf.json` describes them. */
export interface ProtobufDescriptor {
  readonly packages: Readonly<Record<string, string>>
  readonly messages: Readonly<Record<string, Readonly<Record<string, Field>>>>
}

/** What the Go structs say about fields, as `data/go-types.json` has it: `*` pointer, `!` kept when empty, `0` zero struct left out. */
export type GoTypes = Readonly<Record<string, Readonly<Record<string, string>>>>

const magic = [0x6b, 0x38, 0x73, 0x00]
const envelope = 'k8s.io.apimachinery.pkg.runtime.Unknown'
const metaPackage = 'k8s.io.apimachinery.pkg.apis.meta.v1'
/** No kind is nested deeper but for the schema of a CustomResourceDefinition, which may be. */
const MAX_DEPTH = 200
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads the descriptions shipped with the package, when first needed. */
export function loadProtobufDecoder(): ProtobufDecoder {
  let loaded: { descriptor: ProtobufDescriptor; goTypes: GoTypes } | undefined
  return new ProtobufDecoder(() => {
    loaded ??= { descriptor: readData('protobuf.json'), goTypes: readData('go-types.json') }
    return loaded
  })
}

function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../data/${name}`, import.meta.url), 'utf8'))
}

/** Whether bytes start like a Kubernetes protobuf body. */
export function isProtobuf(bytes: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte)
}

/** Decodes by description, so that there is no generated code. */
export class ProtobufDecoder {
  readonly #load: () => { readonly descriptor: ProtobufDescriptor; readonly goTypes: GoTypes }

  constructor(load: () => { readonly descriptor: ProtobufDescriptor; readonly goTypes: GoTypes }) {
    this.#load = load
  }

  /** The object in `bytes`. Throws {@link MalformedProtobuf} for anything that is not one. */
  decode(bytes: Uint8Array): JsonObject {
    if (!isProtobuf(bytes)) throw new MalformedProtobuf('the four bytes in front are missing')
    const unknown = this.#fields(envelope, bytes.subarray(magic.length), 0, true)
    const typeMeta = unknown.typeMeta
    const { apiVersion, kind } =
      typeof typeMeta === 'object' && !Array.isArray(typeMeta) && typeMeta !== null ? typeMeta : {}
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new MalformedProtobuf('it names no kind')
    const raw = Buffer.from(typeof unknown.raw === 'string' ? unknown.raw : '', 'base64')
    return { apiVersion, kind, ...this.#fields(this.#messageOf(apiVersion, kind), raw, 0, false) }
  }

  #messageOf(apiVersion: string, kind: string): string {
    const { packages, messages } = this.#load().descriptor
    const own = `${packages[apiVersion]}.${kind}`
    if (messages[own] !== undefined) return own
    const shared = `${metaPackage}.${kind}`
    if (messages[shared] !== undefined) return shared
    throw new MalformedProtobuf(`no message is known for ${apiVersion}, Kind=${kind}`)
  }

  #fields(message: string, bytes: Uint8Array, depth: number, keepsZeros: boolean): JsonObject {
    if (depth > MAX_DEPTH) throw new MalformedProtobuf('it is nested too deep')
    const { descriptor, goTypes } = this.#load()
    const known = descriptor.messages[message] ?? {}
    const flags = goTypes[message] ?? {}
    const object: JsonObject = {}
    const reader = new WireReader(bytes)
    while (!reader.isAtEnd) {
      const tag = reader.tag()
      const field = known[tag.field]
      if (field === undefined) {
        reader.skip(tag.type)
        continue
      }
      const [name, type, cardinality] = field
      if (cardinality === 'map') this.#addEntry(object, name, type, reader.bytes(), depth)
      else if (cardinality === 'repeated') {
        const list = Array.isArray(object[name]) ? object[name] : []
        list.push(...this.#repeated(type, reader, tag.type, depth))
        object[name] = list
      } else {
        const value = this.#value(type, reader, depth)
        const flag = flags[name]?.split(' ', 1)[0] ?? ''
        if (name === '') Object.assign(object, value)
        else if (keepsZeros || isKept(value, flag)) object[name] = value
      }
    }
    return object
  }

  #addEntry(object: JsonObject, name: string, type: string, bytes: Uint8Array, depth: number): void {
    const reader = new WireReader(bytes)
    let key = ''
    let value: JsonValue = zeroOf(type)
    while (!reader.isAtEnd) {
      const tag = reader.tag()
      if (tag.field === 1) key = text(reader.bytes())
      else if (tag.field === 2) value = this.#value(type, reader, depth) ?? null
      else reader.skip(tag.type)
    }
    const map =
      typeof object[name] === 'object' && object[name] !== null && !Array.isArray(object[name]) ? object[name] : {}
    // A key such as __proto__ must become a field like any other.
    Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true })
    object[name] = map
  }

  #repeated(type: string, reader: WireReader, wireType: number, depth: number): JsonValue[] {
    const isPacked = wireType === 2 && isNumber(type)
    if (!isPacked) return [this.#value(type, reader, depth) ?? null]
    const packed = new WireReader(reader.bytes())
    const values: JsonValue[] = []
    while (!packed.isAtEnd) values.push(this.#value(type, packed, depth) ?? null)
    return values
  }

  #value(type: string, reader: WireReader, depth: number): JsonValue | undefined {
    switch (type) {
      case 'string':
        return text(reader.bytes())
      case 'bytes':
        return Buffer.from(reader.bytes()).toString('base64')
      case 'bool':
        return reader.varint() !== 0n
      case 'double':
        return reader.double()
      case 'float':
        return reader.float()
      case 'uint32':
      case 'uint64':
        return Number(reader.varint())
      case 'int32':
      case 'int64':
        return reader.integer()
      default:
        return this.#message(type, reader.bytes(), depth + 1)
    }
  }

  #message(type: string, bytes: Uint8Array, depth: number): JsonValue | undefined {
    const special = specialForm(type)
    const fields = this.#fields(type, bytes, depth, special !== undefined)
    if (special !== undefined) return special(fields)
    // A named slice: its elements stand for the message itself.
    const slice = fields['']
    return slice !== undefined && Object.keys(fields).length === 1 ? slice : fields
  }
}

function text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new MalformedProtobuf('a string is not UTF-8')
  }
}

function isNumber(type: string): boolean {
  return ['bool', 'int32', 'int64', 'uint32', 'uint64', 'double', 'float'].includes(type)
}

function zeroOf(type: string): JsonValue {
  if (type === 'string' || type === 'bytes') return ''
  return isNumber(type) ? 0 : {}
}

/** Go writes plain fields even when they are empty; its JSON leaves them out unless told otherwise. */
function isKept(value: JsonValue | undefined, flag: string): boolean {
  if (value === undefined) return false
  if (flag.includes('*') || flag.includes('!')) return true
  if (value === '' || value === false || value === 0) return false
  const isEmptyStruct =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  return !(isEmptyStruct && flag.includes('0'))
}
