/** Fuzzes CustomResourceDefinitions: their checks, and objects under the schemas that pass. */
import { attempt, broken, fuzz, jsonOf, jsonValue, sameJson, textOf } from '@reeve/fuzz'
import fc, { type Arbitrary } from 'fast-check'
import { builtinMessageTypes } from '../src/builtin/messages.ts'
import { DecodeError } from '../src/builtin/scalar-forms.ts'
import { toTypedForm } from '../src/builtin/typed-form.ts'
import { readDefinition } from '../src/crd/definition.ts'
import { resourceInfos } from '../src/crd/resource-infos.ts'
import { hasRules, loadRuleEngine } from '../src/crd/rules.ts'
import { definition } from '../src/crd/testing/definitions.ts'
import { validateDefinition, validateRules } from '../src/crd/validate-definition.ts'
import { isJsonObject, type JsonObject } from '../src/json.ts'
import type { ResourceInfo } from '../src/registry/resource-info.ts'
import { applyDefaults } from '../src/schema/default.ts'
import { prune } from '../src/schema/prune.ts'
import type { Schema } from '../src/schema/schema.ts'
import { validateSchema } from '../src/schema/validate.ts'
import { parsedBody } from './support/parsed-input.ts'

const scalar = fc.constantFrom<Record<string, unknown>>(
  { type: 'string', pattern: '^[a-z]+$', maxLength: 5 },
  { type: 'string', enum: ['a', 'b'], default: 'a' },
  { type: 'string', format: 'date-time', nullable: true },
  { type: 'integer', minimum: 1, maximum: 5, exclusiveMaximum: true },
  { type: 'number', multipleOf: 0.1 },
  { type: 'boolean', default: false },
  { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { type: 'string', 'x-kubernetes-validations': [{ rule: 'self.size() < 3' }] },
  { type: 'string', pattern: '(a{9}){9}' },
  { type: 'string', oneOf: [{ pattern: 'a' }, { minLength: 3 }], not: { enum: ['x'] } },
)
const schema: Arbitrary<Record<string, unknown>> = fc.letrec<{ s: Record<string, unknown> }>((tie) => ({
  s: fc.oneof(
    { depthSize: 'small' },
    { weight: 3, arbitrary: scalar },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'metadata', 'constructor'), tie('s'), {
            maxKeys: 3,
          }),
          required: fc.constant(['a']),
          'x-kubernetes-preserve-unknown-fields': fc.constant(true),
          'x-kubernetes-embedded-resource': fc.constant(true),
          default: jsonValue,
        },
        { requiredKeys: ['type'] },
      ),
    },
    { weight: 1, arbitrary: tie('s').map((entry) => ({ type: 'object', additionalProperties: entry })) },
    {
      weight: 2,
      arbitrary: fc.record(
        {
          type: fc.constant('array'),
          items: tie('s'),
          'x-kubernetes-list-type': fc.constantFrom('set', 'map', 'atomic'),
          'x-kubernetes-list-map-keys': fc.constant(['a']),
          maxItems: fc.nat(3),
        },
        { requiredKeys: ['type', 'items'] },
      ),
    },
  ),
})).s

const engine = await loadRuleEngine()
const type = builtinMessageTypes().ofKind('apiextensions.k8s.io/v1', 'CustomResourceDefinition')

fuzz('structural-schema', {
  inputs: jsonOf({
    schema: schema.map((spec) => ({ type: 'object', properties: { spec } })),
    version: fc.constantFrom(
      {},
      { subresources: { status: {}, scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.b' } } },
    ),
    object: fc.record({ spec: jsonValue }),
  }),
  dictionary: [
    'type',
    'object',
    'array',
    'string',
    'properties',
    'items',
    'additionalProperties',
    'default',
    'pattern',
    'enum',
    'format',
    'oneOf',
    'allOf',
    'anyOf',
    'not',
    'nullable',
    'required',
    'x-kubernetes-validations',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    '(a{99}){9}',
    '$ref',
  ],
  isJson: true,
  run(input) {
    const value = parsedBody(textOf(input))
    if (!isJsonObject(value)) return
    const { schema: openAPIV3Schema = {}, version, object } = value
    const extra = isJsonObject(version) ? version : {}
    const crd = definition({
      version: { schema: { openAPIV3Schema }, ...extra },
      ...(isJsonObject(value.spec) && { spec: value.spec }),
    })
    if (type === undefined) throw new Error('the kind CustomResourceDefinition is missing')
    // As for every built-in kind, decoding comes before validation.
    const decoded = attempt(() => toTypedForm(type, crd, { keepsEmptyLists: true }), DecodeError)
    if (decoded === undefined) return
    if (validateDefinition(crd, undefined).length > 0) return
    const read = readDefinition(crd)
    const rules = read.versions.some(({ schema: declared }) => hasRules(declared))
    if (rules && validateRules(read, engine).length > 0) return
    const [info] = resourceInfos(read, read.names, rules ? engine : undefined)
    if (info?.schema === undefined) return
    useSchema(
      info.schema,
      {
        apiVersion: 'example.com/v1',
        kind: 'Widget',
        metadata: { name: 'a' },
        ...(isJsonObject(object) ? object : {}),
      },
      info.validateRules,
    )
  },
})

function useSchema(schemaOfKind: Schema, object: JsonObject, validate: ResourceInfo['validateRules']): void {
  const before = JSON.stringify(object)
  const { object: pruned } = prune(schemaOfKind, object)
  sameJson('pruning twice is pruning once', prune(schemaOfKind, pruned), { object: pruned, unknown: [] })
  const defaulted = applyDefaults(schemaOfKind, pruned)
  sameJson('defaulting twice is defaulting once', applyDefaults(schemaOfKind, defaulted), defaulted)
  const errors = validateSchema(schemaOfKind, defaulted)
  if (validateSchema(schemaOfKind, defaulted, { old: defaulted }).length > 0) {
    throw broken('what did not change is not refused', object)
  }
  validate?.(defaulted, undefined, errors)
  sameJson('an object is not changed by being checked', JSON.stringify(object), before)
}
