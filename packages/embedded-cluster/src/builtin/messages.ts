/** The built-in types as the API server's decoder knows them: field numbers, JSON names, Go types. */
import { readFileSync } from 'node:fs'
import { dataFile } from '../data-file.ts'

/** Types whose JSON is not an object with the fields of the message. */
export type SpecialType =
  | 'Quantity'
  | 'IntOrString'
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'RawJson'
  | 'JSONSchemaPropsOr'
  | 'NamedSlice'

/** The type of a single value of a field. */
export type ValueType =
  | { readonly kind: 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'double' }
  | { readonly kind: 'message'; readonly message: MessageType }

/** A field of a message. */
export interface MessageField {
  /** The name in JSON; empty for an embedded message, whose fields appear among those of its parent. */
  readonly name: string
  readonly number: number
  readonly value: ValueType
  readonly cardinality: 'one' | 'repeated' | 'map'
  /** A pointer in Go: its zero value is different from no value. */
  readonly isPointer: boolean
  /** Encoded even without a value. */
  readonly isAlways: boolean
  /** A struct that is omitted when all its fields are zero. */
  readonly isOmittedWhenZero: boolean
  /** The Go type if it is a named type other than a struct, such as `v1.Protocol`. */
  readonly goType: string | undefined
  /** Names of the embedded structs that contain the field, which appear in the decoder's messages. */
  readonly embedding: readonly string[]
}

/** A type. Fields are resolved lazily, because types are recursive. */
export interface MessageType {
  /** The full name, such as `k8s.io.api.core.v1.Pod`. */
  readonly name: string
  /** The Go name, such as `v1.Pod`. */
  readonly goType: string
  readonly special: SpecialType | undefined
  readonly byNumber: ReadonlyMap<number, MessageField>
  /** All fields in the type's JSON, including those of embedded structs. */
  readonly byName: ReadonlyMap<string, MessageField>
  /** Fields that are encoded without a value: those marked so, and structs by value. */
  readonly alwaysPresent: readonly MessageField[]
}

/** One field in the format of the data file. */
type RawField = readonly [name: string, type: string, cardinality?: 'repeated' | 'map']

interface RawMessages {
  readonly packages: Readonly<Record<string, string>>
  readonly messages: Readonly<Record<string, Readonly<Record<string, RawField>>>>
}

type RawGoTypes = Readonly<Record<string, Readonly<Record<string, string>>>>

const scalars = new Map<string, ValueType>(
  (['string', 'bytes', 'bool', 'int32', 'int64', 'double'] as const).map((kind) => [kind, { kind }]),
)

const META = 'k8s.io.apimachinery.pkg.apis.meta.v1'
const APIEXTENSIONS = 'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1'
const specialTypes: Readonly<Record<string, SpecialType>> = {
  'k8s.io.apimachinery.pkg.api.resource.Quantity': 'Quantity',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString': 'IntOrString',
  'k8s.io.apimachinery.pkg.runtime.RawExtension': 'RawJson',
  [`${META}.Time`]: 'Time',
  [`${META}.MicroTime`]: 'MicroTime',
  [`${META}.Duration`]: 'Duration',
  [`${META}.FieldsV1`]: 'RawJson',
  [`${APIEXTENSIONS}.JSON`]: 'RawJson',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrArray`]: 'JSONSchemaPropsOr',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrBool`]: 'JSONSchemaPropsOr',
  [`${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`]: 'JSONSchemaPropsOr',
}

/** The types of the built-in kinds. */
export class MessageTypes {
  readonly #raw: RawMessages
  readonly #goTypes: RawGoTypes
  readonly #resolved = new Map<string, MessageType>()

  constructor(raw: RawMessages, goTypes: RawGoTypes) {
    this.#raw = raw
    this.#goTypes = goTypes
  }

  /** The type of a kind, including lists and options; `undefined` when there is none. */
  ofKind(apiVersion: string, kind: string): MessageType | undefined {
    const { packages } = this.#raw
    const own = Object.hasOwn(packages, apiVersion) ? packages[apiVersion] : undefined
    if (own === undefined) return undefined
    return this.named(`${own}.${kind}`) ?? this.named(`${META}.${kind}`)
  }

  /** The type with this full name. */
  named(name: string): MessageType | undefined {
    const known = this.#resolved.get(name)
    if (known !== undefined) return known
    if (!Object.hasOwn(this.#raw.messages, name)) return undefined
    const type = this.#lazy(name)
    this.#resolved.set(name, type)
    return type
  }

  #lazy(name: string): MessageType {
    const [packageName = '', shortName = ''] = name.split('.').slice(-2)
    const resolve = () => this.#fields(name)
    let fields: readonly MessageField[] | undefined
    let byNumber: ReadonlyMap<number, MessageField> | undefined
    let byName: ReadonlyMap<string, MessageField> | undefined
    let alwaysPresent: readonly MessageField[] | undefined
    const all = () => {
      fields ??= resolve()
      return fields
    }
    const type: MessageType = {
      name,
      goType: `${packageName}.${shortName}`,
      special: specialTypes[name] ?? (this.#isNamedSlice(name) ? 'NamedSlice' : undefined),
      get byNumber() {
        byNumber ??= new Map(all().map((field) => [field.number, field]))
        return byNumber
      },
      get byName() {
        byName ??= new Map(
          all()
            .flatMap(flatten)
            .map((field) => [field.name, field]),
        )
        return byName
      },
      get alwaysPresent() {
        alwaysPresent ??= [...type.byName.values()].filter(isAlwaysPresent)
        return alwaysPresent
      },
    }
    return type
  }

  /** A named Go slice: its message has one repeated field without a JSON name. */
  #isNamedSlice(name: string): boolean {
    const fields = Object.values(this.#raw.messages[name] ?? {})
    return fields.length === 1 && fields[0]?.[0] === '' && fields[0][2] === 'repeated'
  }

  #fields(message: string): MessageField[] {
    const goTypes = this.#goTypes[message] ?? {}
    return Object.entries(this.#raw.messages[message] ?? {}).map(([number, [name, type, cardinality]]) => {
      const value = this.#valueType(type)
      const [, flags = '', goType] = /^([*!0]*)(?: ?(\S+))?$/.exec(goTypes[name] ?? '') ?? []
      return {
        name,
        number: Number(number),
        value,
        cardinality: cardinality ?? 'one',
        isPointer: flags.includes('*'),
        isAlways: flags.includes('!'),
        isOmittedWhenZero: flags.includes('0'),
        goType,
        embedding: [],
      }
    })
  }

  #valueType(type: string): ValueType {
    const scalar = scalars.get(type)
    if (scalar !== undefined) return scalar
    const message = this.named(type)
    if (message === undefined) throw new Error(`the protobuf data refers to ${type}, which it does not define`)
    return { kind: 'message', message }
  }
}

function flatten(field: MessageField): readonly MessageField[] {
  if (field.name !== '' || field.value.kind !== 'message') return [field]
  const { message } = field.value
  const shortName = message.name.slice(message.name.lastIndexOf('.') + 1)
  return [...message.byName.values()].map((inner) => ({ ...inner, embedding: [shortName, ...inner.embedding] }))
}

function isAlwaysPresent(field: MessageField): boolean {
  if (field.isAlways) return true
  if (field.isPointer || field.isOmittedWhenZero || field.cardinality !== 'one') return false
  return field.value.kind === 'message' && field.value.message.special !== 'NamedSlice' && isStruct(field.value.message)
}

/** Raw JSON is also a struct in Go, but is encoded as nothing when it is empty. */
function isStruct(message: MessageType): boolean {
  return message.special !== 'RawJson'
}

// The files do not change while a process runs, so clusters share them.
let shipped: MessageTypes | undefined

/** The types in this package, loaded on first use. Throws when the files are missing or malformed. */
export function builtinMessageTypes(): MessageTypes {
  shipped ??= loadMessageTypes()
  return shipped
}

/** Reads the types from the files in `folder`. Throws when they are missing or malformed. */
function loadMessageTypes(folder: URL = new URL('.', dataFile('protobuf.json'))): MessageTypes {
  const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
  return new MessageTypes(read('protobuf.json'), read('go-types.json'))
}
