/** The schemas of the built-in kinds, from the definitions file in this package. */
import { readFileSync } from 'node:fs'
import { dataFile } from '../data-file.ts'
import { inlineFieldsOf } from './inline-structs.ts'
import type { Schema } from './schema.ts'

/** A schema in the file's format: Swagger, with references by name. */
type RawSchema = Omit<Schema, 'properties' | 'items' | 'additionalProperties'> & {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, RawSchema>>
  readonly items?: RawSchema
  readonly additionalProperties?: RawSchema | boolean
}

/** Identifies a kind. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

const refPrefix = '#/definitions/'

/** Types whose JSON form Swagger cannot express. */
const specialTypes: Readonly<Record<string, Schema>> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { 'x-kubernetes-int-or-string': true, format: 'int-or-string' },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { 'x-kubernetes-int-or-string': true, format: 'quantity' },
  // Atomic for ownership: the server stores its bytes.
  'io.k8s.apimachinery.pkg.runtime.RawExtension': {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-kubernetes-map-type': 'atomic',
  },
  'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'io.k8s.apimachinery.pkg.apis.meta.v1.Patch': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON': { 'x-kubernetes-preserve-unknown-fields': true },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray': {
    'x-kubernetes-preserve-unknown-fields': true,
  },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool': {
    'x-kubernetes-preserve-unknown-fields': true,
  },
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray': {
    'x-kubernetes-preserve-unknown-fields': true,
  },
}

/**
 * Returns the lookup from kind to schema. The file is read on the first lookup; each schema is resolved lazily, field
 * by field, because definitions are recursive.
 *
 * *Errors*: the lookup throws when the file is missing or malformed.
 *
 * @example
 * const schemaOf = loadBuiltinSchemas()
 * schemaOf({ group: 'apps', version: 'v1', kind: 'Deployment' })?.properties?.spec
 */
export function loadBuiltinSchemas(
  file: URL = dataFile('openapi-definitions.json'),
): (gvk: GroupVersionKind) => Schema | undefined {
  let definitions: Definitions | undefined
  return (gvk) => {
    definitions ??= new Definitions(JSON.parse(readFileSync(file, 'utf8')))
    return definitions.schemaOf(gvk)
  }
}

/** Resolves references by name, each definition once. */
class Definitions {
  readonly #raw: Readonly<Record<string, RawSchema>>
  readonly #nameByKind = new Map<string, string>()
  readonly #resolved = new Map<string, Schema>()

  constructor(raw: Readonly<Record<string, RawSchema>>) {
    this.#raw = raw
    for (const [name, definition] of Object.entries(raw)) {
      for (const gvk of definition['x-kubernetes-group-version-kind'] ?? []) {
        const key = kindKey(gvk)
        // Types such as DeleteOptions belong to every group; the first definition of a kind is used.
        if (!this.#nameByKind.has(key)) this.#nameByKind.set(key, name)
      }
    }
  }

  schemaOf(gvk: GroupVersionKind): Schema | undefined {
    const name = this.#nameByKind.get(kindKey(gvk))
    return name === undefined ? undefined : this.#named(name)
  }

  #named(name: string): Schema {
    const known = this.#resolved.get(name)
    if (known !== undefined) return known
    const raw = this.#raw[name]
    if (raw === undefined) throw new Error(`the definitions refer to ${name}, which is not defined`)
    const isKind = raw['x-kubernetes-group-version-kind'] !== undefined
    const converted = specialTypes[name] ?? this.#converted(raw, inlineFieldsOf(name, isKind), isKind)
    const schema = overlay({ 'x-type-name': name.split('.').slice(-2).join('.') }, converted)
    this.#resolved.set(name, schema)
    return schema
  }

  #schema(raw: RawSchema): Schema {
    if (raw.$ref === undefined) return this.#converted(raw, [], false)
    const target = this.#named(raw.$ref.slice(refPrefix.length))
    const { $ref: _, ...siblings } = raw
    // Keywords next to a reference describe how this field is merged; they take precedence over those of the type. Only
    // extensions remain besides the reference, which both kinds of schema have in common.
    return Object.keys(siblings).length === 0 ? target : overlay(siblings as Schema, target)
  }

  #converted(raw: RawSchema, inlineFields: readonly string[], isInline: boolean): Schema {
    const { properties, items, additionalProperties, ...rest } = raw
    const schema: Record<string, unknown> = isInline ? { ...rest, 'x-inline': true } : { ...rest }
    if (properties !== undefined) {
      const resolved: Record<string, Schema> = {}
      for (const [name, field] of Object.entries(properties)) {
        const isStruct = field.$ref !== undefined && inlineFields.includes(name)
        defineLazily(resolved, name, () => {
          const type = this.#schema(field)
          return isStruct ? overlay(inlineStruct, type) : type
        })
      }
      schema.properties = resolved
    }
    if (items !== undefined) defineLazily(schema, 'items', () => this.#schema(items))
    if (typeof additionalProperties === 'object') {
      defineLazily(schema, 'additionalProperties', () => this.#schema(additionalProperties))
    } else if (additionalProperties !== undefined) {
      schema.additionalProperties = additionalProperties
    }
    // Every field of the raw schema is a field of Schema, apart from the references resolved above.
    return schema as Schema
  }
}

function kindKey({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`
}

const inlineStruct: Schema = { 'x-inline': true, default: {} }

/** `base` with other values for some fields; lazily computed fields stay lazy. */
function overlay(changes: Schema, base: Schema): Schema {
  const fields = { ...Object.getOwnPropertyDescriptors(base), ...Object.getOwnPropertyDescriptors(changes) }
  return Object.defineProperties({}, fields)
}

/** A field that is computed once on first access, even if it has been copied to another object. */
function defineLazily<T>(target: Record<string, T>, name: string, compute: () => T): void {
  let value: T | undefined
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get() {
      value ??= compute()
      return value
    },
  })
}
