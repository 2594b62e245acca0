/** Random objects that a schema admits. */
import type { StructuralSchema } from '@reeve/crd'
import fc, { type Arbitrary } from 'fast-check'

/** Probability of an optional field: 1 in this many, so that deep schemas give small objects. */
const ONE_IN = 4

/** Values that the schema admits, of modest size. */
function arbitraryOf(schema: StructuralSchema): Arbitrary<unknown> {
  const value = notNull(schema)
  return schema.nullable ? fc.option(value, { freq: 8, nil: null }) : value
}

/** Objects with the given identity and a random spec and status. */
export function arbitraryObject(schema: StructuralSchema, apiVersion: string, kind: string) {
  const { spec = {}, status = {} } = schema.properties ?? {}
  return fc.record({
    apiVersion: fc.constant(apiVersion),
    kind: fc.constant(kind),
    metadata: fc.record(
      {
        name: fc.constant('dk'),
        namespace: fc.constant('dynatrace'),
        annotations: fc.constant({ 'feature.dynatrace.com/public-registry': 'true' }),
        labels: fc.constant({ team: 'shop' }),
      },
      { requiredKeys: ['name', 'namespace'] },
    ),
    spec: arbitraryOf(spec),
    status: arbitraryOf(status),
  })
}

function notNull(schema: StructuralSchema): Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema['x-kubernetes-int-or-string']) {
    return schema.pattern ? fc.constantFrom('100m', '1Gi', 2) : fc.constantFrom('25%', 1)
  }
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: 70_000 })
    case 'array':
      return list(schema)
    default:
      return object(schema)
  }
}

function text(schema: StructuralSchema): Arbitrary<string> {
  if (schema.format === 'date-time') return fc.constantFrom('2030-01-02T03:04:05Z', '2031-01-01T00:00:00Z')
  if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern), { maxLength: 8 })
  return fc.constantFrom('', 'a', 'b.c', 'https://x/api', 'üñ')
}

function list(schema: StructuralSchema): Arbitrary<unknown[]> {
  const items = arbitraryOf(schema.items ?? {})
  const keys = schema['x-kubernetes-list-map-keys']
  const isSet = schema['x-kubernetes-list-type'] === 'set'
  const identity = (item: unknown) =>
    JSON.stringify(keys ? keys.map((key) => (item as Record<string, unknown>)[key]) : item)
  const length = { minLength: schema.minItems ?? 0, maxLength: schema.maxItems ?? 2 }
  return keys || isSet ? fc.uniqueArray(items, { ...length, selector: identity }) : fc.array(items, length)
}

function object(schema: StructuralSchema): Arbitrary<object> {
  if (typeof schema.additionalProperties === 'object') {
    return fc.dictionary(fc.constantFrom('a', 'b', 'c.d/e'), arbitraryOf(schema.additionalProperties), { maxKeys: 2 })
  }
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, member]) => [name, present(arbitraryOf(member), schema.required?.includes(name) ?? false)] as const,
  )
  return fc
    .tuple(...members.map(([, value]) => value))
    .map((values) =>
      Object.fromEntries(
        members.flatMap(([name], index) => (values[index] === undefined ? [] : [[name, values[index]]])),
      ),
    )
}

function present(value: Arbitrary<unknown>, isRequired: boolean): Arbitrary<unknown> {
  return isRequired
    ? value
    : fc.oneof({ weight: ONE_IN - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })
}
