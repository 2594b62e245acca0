/** Fuzzes objects against the schema of a CRD: validation and defaults. */
import { fuzz, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { Type } from 'typebox'
import { applyDefaults } from '../src/apply-defaults.ts'
import { defineCrd } from '../src/definition.ts'
import { objectSchema } from '../src/manifest.ts'
import { validate } from '../src/validate.ts'

const WidgetCrd = defineCrd({
  group: 'example.com',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  versions: {
    v1: {
      spec: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 20, pattern: '^[a-z]+(-[a-z]+)*$' }),
        replicas: Type.Integer({ minimum: 0, maximum: 10, default: 1 }),
        ratio: Type.Optional(Type.Number({ multipleOf: 0.5 })),
        mode: Type.Union([Type.Literal('a'), Type.Literal('b')], { default: 'a' }),
        env: Type.Optional(
          Type.Array(Type.Object({ name: Type.String(), value: Type.Optional(Type.String()) }), { maxItems: 5 }),
        ),
        labels: Type.Optional(Type.Record(Type.String(), Type.String())),
        nested: Type.Optional(Type.Object({ deep: Type.Object({ flag: Type.Boolean({ default: true }) }) })),
      }),
    },
  },
})
const schema = objectSchema(WidgetCrd, 'v1')
const spec = fc.record(
  {
    name: fc.constantFrom('web', 'web-a', 'Web', ''),
    replicas: fc.constantFrom(1, -1, 1.5, null),
    mode: fc.constantFrom('a', 'c'),
    env: fc.array(fc.record({ name: fc.string({ maxLength: 4 }) }), { maxLength: 3 }),
    labels: fc.dictionary(fc.constantFrom('a', '__proto__', 'constructor'), fc.constantFrom('x', 'y')),
    nested: jsonValue,
  },
  { requiredKeys: [] },
)

fuzz('schema-validation', {
  inputs: jsonOf({ apiVersion: fc.constant('example.com/v1'), kind: fc.constant('Widget'), metadata: jsonValue, spec }),
  dictionary: ['spec', 'name', 'replicas', 'mode', 'env', 'labels', 'nested', 'deep', 'a-a-a-a-a-'],
  isJson: true,
  run(input) {
    const value = parsed(textOf(input))
    if (value === undefined) return
    validate(schema, value)
    if (typeof value !== 'object' || value === null) return
    const defaulted = applyDefaults(schema, value)
    sameJson('defaulting twice is defaulting once', applyDefaults(schema, defaulted), defaulted)
  },
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
