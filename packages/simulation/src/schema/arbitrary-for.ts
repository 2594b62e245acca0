/** Values that a CRD's schema allows, for fast-check: generated, and shrunk to the smallest that still fails. */
import { type StructuralSchema, validate } from '@reeve/crd'
import fc from 'fast-check'

/** Numbers stay near their lower bound: a thousand replicas teach no more than four. */
const NUMBER_SPREAD = 6
const MAX_ITEMS = 3
const MAX_DEPTH = 8

const CHARACTER = fc.constantFrom(...'abcdefghij0123456789')
const MAP_KEY = fc.stringMatching(/^[a-z][a-z0-9]{0,4}$/)

/**
 * An arbitrary of values that the schema accepts. Optional fields are sometimes left out, maps have up to three keys,
 * lists with keys have no duplicates. CEL rules are not known here.
 *
 * @example
 * fc.assert(fc.property(arbitraryFor(schema), (value) => validate(schema, value).length === 0))
 */
export function arbitraryFor(schema: StructuralSchema): fc.Arbitrary<unknown> {
  // The parts are built to match; the check is for combinations (anyOf, not) that parts cannot know.
  return build(schema, 0).filter((value) => validate(schema, value).length === 0)
}

/** Building costs more than sampling, and the parts of a schema are asked for again and again. By depth. */
const built = new WeakMap<StructuralSchema, Map<number, fc.Arbitrary<unknown>>>()

function build(schema: StructuralSchema, depth: number): fc.Arbitrary<unknown> {
  const byDepth = built.get(schema) ?? new Map<number, fc.Arbitrary<unknown>>()
  built.set(schema, byDepth)
  let arbitrary = byDepth.get(depth)
  if (arbitrary === undefined) {
    const base = buildPlain(schema, depth)
    arbitrary = schema.nullable ? fc.option(base, { nil: null, freq: 4 }) : base
    byDepth.set(depth, arbitrary)
  }
  return arbitrary
}

function buildPlain(schema: StructuralSchema, depth: number): fc.Arbitrary<unknown> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(fc.integer({ min: 1, max: 9 }), text(schema))
  switch (schema.type) {
    case 'integer':
      return integer(schema)
    case 'number':
      return integer(schema)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return text(schema)
    case 'array':
      return list(schema, depth)
    case 'object':
      return object(schema, depth)
    default:
      // Any JSON value is welcome where the schema says nothing.
      return fc.constantFrom<unknown>('any', 1, true)
  }
}

function integer({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf = 1 }: StructuralSchema) {
  const low = Math.ceil((minimum ?? (maximum === undefined ? 0 : maximum - NUMBER_SPREAD)) + (exclusiveMinimum ? 1 : 0))
  const high = Math.floor(
    Math.min((maximum ?? Number.POSITIVE_INFINITY) - (exclusiveMaximum ? 1 : 0), low + NUMBER_SPREAD),
  )
  const first = Math.ceil(low / multipleOf)
  return fc
    .integer({ min: first, max: Math.max(first, Math.floor(high / multipleOf)) })
    .map((step) => step * multipleOf)
}

function text({ pattern, format, minLength = 0, maxLength }: StructuralSchema): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom('2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z')
  const fits = (value: string) => value.length >= minLength && value.length <= (maxLength ?? Number.POSITIVE_INFINITY)
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern), { size: '-1' }).filter(fits)
  const longest = Math.min(maxLength ?? minLength + 8, minLength + 8)
  return fc.string({ minLength, maxLength: longest, unit: CHARACTER })
}

function list(schema: StructuralSchema, depth: number): fc.Arbitrary<readonly unknown[]> {
  const { items = {}, minItems = 0, maxItems = MAX_ITEMS } = schema
  const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, MAX_ITEMS)) }
  const item = build(items, depth + 1)
  const keys = schema['x-kubernetes-list-map-keys']
  if (keys !== undefined) {
    const selector = (value: unknown) => JSON.stringify(keys.map((key) => (value as Record<string, unknown>)[key]))
    return fc.uniqueArray(item, { ...bounds, selector })
  }
  if (schema['x-kubernetes-list-type'] === 'set') return fc.uniqueArray(item, { ...bounds, selector: JSON.stringify })
  return fc.array(item, bounds)
}

function object(schema: StructuralSchema, depth: number): fc.Arbitrary<Record<string, unknown>> {
  const { properties, additionalProperties, required = [] } = schema
  if (properties !== undefined) {
    const fields = Object.entries(properties).filter(([name]) => depth < MAX_DEPTH || required.includes(name))
    const model = Object.fromEntries(fields.map(([name, field]) => [name, build(field, depth + 1)]))
    return fc.record(model, { requiredKeys: required.filter((name) => name in model), noNullPrototype: true })
  }
  if (typeof additionalProperties === 'object') {
    const maxKeys = Math.min(schema.maxProperties ?? MAX_ITEMS, MAX_ITEMS)
    const minKeys = schema.minProperties ?? 0
    return fc.dictionary(MAP_KEY, build(additionalProperties, depth + 1), { minKeys, maxKeys, noNullPrototype: true })
  }
  return fc.constant({})
}
