/** Converts TypeBox schemas to structural schemas, the subset of OpenAPI that Kubernetes supports. */
import { isRecord } from '@reeve/http'
import type { TSchema } from 'typebox'
import { CrdError } from './crd-error.ts'
import type { StructuralSchema } from './structural-schema.ts'

type Node = Readonly<Record<string, unknown>>

/** Keywords with the same meaning in both. */
const COPIED = [
  'description',
  'example',
  'format',
  'nullable',
  'default',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

const SCALARS = new Set(['string', 'integer', 'number', 'boolean'])

/** Keywords handled below by name, or without a meaning in a CRD (`title`, `examples`, …). */
const HANDLED = new Set<string>([
  ...COPIED,
  'type',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'properties',
  'patternProperties',
  'additionalProperties',
  'items',
  'required',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'title',
  'examples',
])

/**
 * Converts a TypeBox schema to a structural schema.
 *
 * - A union of literals becomes an `enum`; a union with `null` becomes `nullable`.
 * - A record becomes `additionalProperties`.
 * - A property with a default is not listed as required: the server sets it before validation.
 *
 * *Errors*: {@link CrdError} `CRD_UNSUPPORTED_SCHEMA` for schemas without a structural form (tuples, references, a union of
 * different shapes without a common type), naming the path.
 *
 * @example
 * toStructural(Type.Object({ size: Type.Integer({ minimum: 1, default: 3 }) }))
 */
export function toStructural(schema: TSchema, path = ''): StructuralSchema {
  return translate(schema as Node, path)
}

function translate(node: Node, path: string): StructuralSchema {
  const target: StructuralSchema = {}
  for (const keyword of Object.keys(node)) {
    if (keyword.startsWith('x-kubernetes-')) {
      Object.assign(target, { [keyword]: node[keyword] })
    } else if (!HANDLED.has(keyword) && !keyword.startsWith('~')) {
      throw unsupported(path, `the keyword "${keyword}" is not supported in a structural schema`)
    }
  }
  for (const keyword of COPIED) {
    if (node[keyword] !== undefined) Object.assign(target, { [keyword]: node[keyword] })
  }
  translateBounds(node, target)
  translateType(node, target, path)
  translateAlternatives(node, target, path)
  translateObject(node, target, path)
  if (isRecord(node.items)) target.items = translate(node.items, `${path}[]`)
  else if (Array.isArray(node.items)) throw unsupported(path, 'a tuple cannot be described; use a list of one type')
  if (target.type === 'array' && target.items === undefined)
    throw unsupported(path, 'a list needs the type of its items')
  requireType(target, path)
  return target
}

/** JSON Schema has exclusive bounds as numbers, Kubernetes as flags next to the bound. */
function translateBounds(node: Node, target: StructuralSchema): void {
  if (typeof node.exclusiveMinimum === 'number') {
    target.minimum = node.exclusiveMinimum
    target.exclusiveMinimum = true
  }
  if (typeof node.exclusiveMaximum === 'number') {
    target.maximum = node.exclusiveMaximum
    target.exclusiveMaximum = true
  }
}

function translateType(node: Node, target: StructuralSchema, path: string): void {
  if (Array.isArray(node.enum)) {
    target.enum = node.enum
    target.type = scalarTypeOf(node.enum, path)
  } else if (node.const !== undefined) {
    target.enum = [node.const]
    target.type = scalarTypeOf([node.const], path)
  } else if (typeof node.type === 'string') {
    if (node.type !== 'object' && node.type !== 'array' && !SCALARS.has(node.type)) {
      throw unsupported(path, `"${node.type}" is not a type of structural schemas`)
    }
    // The check above allows exactly the members of the union.
    target.type = node.type as NonNullable<StructuralSchema['type']>
  }
}

function translateAlternatives(node: Node, target: StructuralSchema, path: string): void {
  for (const keyword of ['oneOf', 'allOf'] as const) {
    const branches = node[keyword]
    if (Array.isArray(branches)) target[keyword] = branches.map((branch) => valueValidation(branch))
  }
  if (isRecord(node.not)) target.not = valueValidation(node.not)
  if (!Array.isArray(node.anyOf)) return
  const branches = node.anyOf.filter((branch) => !(isRecord(branch) && branch.type === 'null'))
  if (branches.length < node.anyOf.length) target.nullable = true
  const only = branches.length === 1 ? branches[0] : undefined
  if (isRecord(only)) {
    Object.assign(target, { ...translate(only, path), ...target })
  } else if (branches.every((branch) => isRecord(branch) && branch.const !== undefined)) {
    const values = branches.map((branch) => branch.const)
    target.enum = values
    target.type = scalarTypeOf(values, path)
  } else {
    target.anyOf = branches.map((branch) => valueValidation(branch))
  }
}

/** Inside `anyOf` and similar only value checks are allowed: no types, descriptions or defaults. */
function valueValidation(branch: unknown): StructuralSchema {
  if (!isRecord(branch)) return {}
  const target: StructuralSchema = {}
  for (const [keyword, value] of Object.entries(branch)) {
    if (['type', 'description', 'default', 'title', 'nullable'].includes(keyword)) continue
    if (keyword === 'const') target.enum = [value]
    else if (keyword === 'properties' && isRecord(value)) {
      target.properties = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, valueValidation(child)]),
      )
    } else if (keyword === 'items') target.items = valueValidation(value)
    else if (!keyword.startsWith('~')) Object.assign(target, { [keyword]: value })
  }
  return target
}

function translateObject(node: Node, target: StructuralSchema, path: string): void {
  if (isRecord(node.properties)) {
    const properties = Object.entries(node.properties)
    target.properties = Object.fromEntries(
      properties.map(([name, child]) => [name, translate(child as Node, path === '' ? name : `${path}.${name}`)]),
    )
    const listed = Array.isArray(node.required) ? (node.required as readonly string[]) : []
    const required = listed.filter((name) => target.properties?.[name]?.default === undefined)
    if (required.length > 0) target.required = required
  }
  if (isRecord(node.patternProperties)) {
    const values = Object.values(node.patternProperties)
    const only = values[0]
    if (values.length !== 1 || !isRecord(only)) throw unsupported(path, 'a record has exactly one type of values')
    target.additionalProperties = translate(only, `${path}.*`)
  } else if (isRecord(node.additionalProperties)) {
    target.additionalProperties = translate(node.additionalProperties, `${path}.*`)
  }
}

function scalarTypeOf(values: readonly unknown[], path: string): 'string' | 'integer' | 'number' | 'boolean' {
  const kinds = new Set(values.map((value) => (Number.isInteger(value) ? 'integer' : typeof value)))
  const [kind] = kinds
  if (kinds.size === 1 && (kind === 'string' || kind === 'integer' || kind === 'number' || kind === 'boolean'))
    return kind
  throw unsupported(path, 'the values of an enumeration must be of one scalar type')
}

function requireType(target: StructuralSchema, path: string): void {
  const open = target['x-kubernetes-int-or-string'] || target['x-kubernetes-preserve-unknown-fields']
  if (target.type === undefined && !open) {
    throw unsupported(path, 'the type is unknown; use anyValue(), intOrString() or a union of literals')
  }
}

function unsupported(path: string, why: string): CrdError {
  return new CrdError('CRD_UNSUPPORTED_SCHEMA', `${path === '' ? 'the schema' : path}: ${why}`)
}
