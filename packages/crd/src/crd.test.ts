import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { parse } from 'yaml'
import {
  anyValue,
  applyDefaults,
  CrdError,
  crdManifest,
  crdYaml,
  defineConversion,
  defineCrd,
  intOrString,
  listMap,
  listSet,
  type ObjectOf,
  objectSchema,
  oneOf,
  openObject,
  quantity,
  toStructural,
  validate,
  withRules,
} from './index.ts'

const v1 = {
  spec: Type.Object({
    image: Type.String({ minLength: 1, description: 'What to run.' }),
    replicas: Type.Integer({ minimum: 0, maximum: 10, default: 1 }),
    kind: oneOf(['Fast', 'Slow'], { default: 'Fast' }),
    port: Type.Optional(intOrString()),
    limits: Type.Optional(Type.Record(Type.String(), quantity())),
    tags: Type.Optional(listSet(Type.String())),
    env: Type.Optional(listMap(Type.Object({ name: Type.String(), value: Type.String({ default: '' }) }), ['name'])),
    extra: Type.Optional(openObject()),
  }),
  status: Type.Object({ ready: Type.Optional(Type.Integer()) }),
  storage: true,
  columns: [{ name: 'Image', type: 'string', jsonPath: '.spec.image' }],
  scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.ready' },
} as const

const v1beta1 = {
  spec: Type.Object({ picture: Type.String(), replicas: Type.Integer({ default: 1 }) }),
  deprecated: 'use v1',
} as const

const WidgetCrd = defineCrd({
  group: 'example.com',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  scope: 'Namespaced',
  versions: { v1, v1beta1 },
})

type Widget = ObjectOf<typeof v1>

const widget = (spec: Record<string, unknown>) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'w' },
  spec,
})

const schema = objectSchema(WidgetCrd, 'v1')
const problemsOf = (spec: Record<string, unknown>) =>
  validate(schema, widget(spec)).map((problem) => `${problem.field} ${problem.message}`)

describe('a CRD definition', () => {
  it('returns a resource with the type of its objects', () => {
    const widgets = WidgetCrd.resource('v1')
    expect(widgets).toMatchObject({ group: 'example.com', version: 'v1', plural: 'widgets', namespaced: true })
    expectTypeOf<NonNullable<(typeof widgets)['$type']>['spec']['replicas']>().toEqualTypeOf<number>()
    expectTypeOf<Widget['spec']['kind']>().toEqualTypeOf<'Fast' | 'Slow'>()
  })

  it('is rejected when several versions are stored', () => {
    const define = () => defineCrd({ ...WidgetCrd, versions: { v1, v2: { ...v1 } } })
    expect(define).toThrow(/exactly one version must have storage: true, v1, v2 are/)
  })

  it('is rejected when a version has a name that Kubernetes cannot order', () => {
    expect(() => defineCrd({ ...WidgetCrd, versions: { first: v1 } })).toThrow(/"first" is not a version name/)
  })

  it('lists the existing versions when another one is requested', () => {
    expect(() => objectSchema(WidgetCrd, 'v9')).toThrow(/no version "v9"; it has v1, v1beta1/)
  })
})

describe('the manifest', () => {
  it('lists names, columns, subresources and deprecation', () => {
    expect(crdManifest(WidgetCrd)).toMatchObject({
      metadata: { name: 'widgets.example.com' },
      spec: {
        names: { kind: 'Widget', listKind: 'WidgetList', singular: 'widget', shortNames: ['wd'] },
        versions: [
          { name: 'v1', served: true, storage: true, subresources: { status: {}, scale: v1.scale } },
          { name: 'v1beta1', served: true, storage: false, deprecated: true, deprecationWarning: 'use v1' },
        ],
      },
    })
  })

  it('contains the conversion webhook when one is given', () => {
    const service = { namespace: 'ops', name: 'hook', path: '/convert' }
    expect(crdManifest(WidgetCrd, { conversion: { service } }).spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: { conversionReviewVersions: ['v1'], clientConfig: { service } },
    })
  })

  it('lists the review versions that the conversion webhook supports', () => {
    const conversion = { service: { namespace: 'ops', name: 'hook', path: '/convert' }, reviewVersions: ['v2', 'v1'] }
    expect(crdManifest(WidgetCrd, { conversion }).spec.conversion).toMatchObject({
      webhook: { conversionReviewVersions: ['v2', 'v1'] },
    })
  })

  it('contains examples', () => {
    expect(toStructural(Type.String({ example: 'docker.io/shop' }))).toEqual({
      type: 'string',
      example: 'docker.io/shop',
    })
  })

  it('is unchanged after conversion to YAML and back', () => {
    expect(parse(crdYaml(WidgetCrd))).toEqual(JSON.parse(JSON.stringify(crdManifest(WidgetCrd))))
  })
})

describe('the structural schema', () => {
  it('does not require a field that has a default', () => {
    expect(schema.properties?.spec?.required).toEqual(['image'])
  })

  it('converts records, unions of literals, null and exclusive bounds to their Kubernetes form', () => {
    const translated = toStructural(
      Type.Object({
        record: Type.Record(Type.String(), Type.Integer()),
        literals: Type.Union([Type.Literal('a'), Type.Literal('b')]),
        nullable: Type.Union([Type.String(), Type.Null()]),
        positive: Type.Number({ exclusiveMinimum: 0 }),
      }),
    )
    expect(translated.properties).toEqual({
      record: { type: 'object', additionalProperties: { type: 'integer' } },
      literals: { type: 'string', enum: ['a', 'b'] },
      nullable: { type: 'string', nullable: true },
      positive: { type: 'number', minimum: 0, exclusiveMinimum: true },
    })
  })

  it('contains CEL rules', () => {
    const rule = { rule: 'self.min <= self.max', message: 'min above max' }
    const translated = toStructural(withRules(Type.Object({ min: Type.Integer(), max: Type.Integer() }), rule))
    expect(translated['x-kubernetes-validations']).toEqual([rule])
    expect(translated.properties?.min).toEqual({ type: 'integer' })
  })

  it.each([
    ['a tuple', Type.Tuple([Type.String(), Type.Integer()])],
    ['a field without a type', Type.Unknown()],
    ['a reference', Type.Ref('Other')],
    ['a mixed enumeration', Type.Union([Type.Literal('a'), Type.Literal(1)])],
  ])('rejects %s and reports the path', (_, field) => {
    const translate = () => toStructural(Type.Object({ outer: Type.Object({ field }) }))
    expect(translate).toThrow(CrdError)
    expect(translate).toThrow(/outer\.field/)
  })
})

/** Properties that every JavaScript object inherits, and users may use as field names. */
const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']

describe('defaulting', () => {
  it('sets defaults at every level and does not modify the input', () => {
    const given = widget({ image: 'a:1', env: [{ name: 'A' }] })
    expect(applyDefaults(schema, given).spec).toEqual({
      image: 'a:1',
      replicas: 1,
      kind: 'Fast',
      env: [{ name: 'A', value: '' }],
    })
    expect(given.spec).toEqual({ image: 'a:1', env: [{ name: 'A' }] })
  })

  it('replaces a null that the schema does not allow', () => {
    expect(applyDefaults(schema, widget({ image: 'a:1', replicas: null })).spec).toMatchObject({ replicas: 1 })
  })

  it.each(INHERITED)('sets defaults in the entry %s of a map', (name) => {
    const map = toStructural(
      Type.Object({ known: Type.Record(Type.String(), Type.Object({ size: Type.Integer({ default: 1 }) })) }),
    )
    const filled = applyDefaults(map, JSON.parse(`{ "known": { "${name}": {} } }`))
    expect(JSON.stringify(filled)).toBe(`{"known":{"${name}":{"size":1}}}`)
    expect(Object.getPrototypeOf(filled.known)).toBe(Object.prototype)
  })

  it('is idempotent', () => {
    const spec = fc.record(
      { image: fc.string(), replicas: fc.integer(), env: fc.array(fc.record({ name: fc.string() })) },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(spec, (generated) => {
        const once = applyDefaults(schema, widget(generated))
        expect(applyDefaults(schema, once)).toBe(once)
      }),
    )
  })
})

describe('validation', () => {
  it('accepts valid objects', () => {
    const spec = { image: 'a:1', port: '80', limits: { cpu: '500m', memory: 1 }, tags: ['a', 'b'], extra: { any: [1] } }
    expect(problemsOf(spec)).toEqual([])
  })

  it('reports every problem together, each with its field and the expected value', () => {
    const spec = {
      image: '',
      replicas: 11,
      kind: 'Medium',
      port: true,
      limits: { cpu: 'lots' },
      tags: ['a', 'a'],
      env: [{ name: 'A' }, { name: 'A' }, { value: 1 }],
      imagge: 'typo',
    }
    expect(problemsOf(spec)).toEqual([
      'spec.image must not be empty',
      'spec.replicas must be at most 10, not 11',
      'spec.kind must be one of "Fast", "Slow", not "Medium"',
      'spec.port must be an integer or string, not a boolean',
      expect.stringMatching(/^spec\.limits\.cpu must match .*"lots" does not$/),
      'spec.tags[1] repeats an earlier item',
      'spec.env[2].name is required',
      'spec.env[2].value must be a string, not a number',
      'spec.env[1] repeats an earlier item (same name)',
      expect.stringMatching(/^spec\.imagge is not a known field; known fields are image, /),
    ])
  })

  it('reports the missing spec', () => {
    expect(validate(schema, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: {} })).toEqual([
      { field: 'spec', message: 'is required' },
    ])
  })

  it.each(INHERITED)('rejects an unknown field named %s', (name) => {
    const spec = JSON.parse(`{ "image": "a:1", "${name}": { "image": 5 } }`)
    expect(problemsOf(spec)).toEqual([expect.stringMatching(`^spec\\.${name} is not a known field`)])
  })

  it.each(INHERITED)('validates the entry %s of a map', (name) => {
    expect(problemsOf(JSON.parse(`{ "image": "a:1", "limits": { "${name}": true } }`))).toEqual([
      `spec.limits.${name} must be an integer or string, not a boolean`,
    ])
  })

  it('limits the number of problems', () => {
    const spec = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field${index}`, 1]))
    expect(problemsOf(spec)).toHaveLength(100)
  })

  it('never throws, whatever the input', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void validate(schema, value)))
  })

  it('keeps any value where the schema allows it', () => {
    expect(validate(toStructural(Type.Object({ free: anyValue() })), { free: [{ a: null }] })).toEqual([])
  })
})

describe('conversion', () => {
  const convert = defineConversion(WidgetCrd, 'v1', {
    v1beta1: {
      toHub: ({ spec, ...rest }) => {
        if (spec.picture === 'broken') throw new Error('no such picture')
        return { ...rest, spec: { image: spec.picture, replicas: spec.replicas, kind: 'Fast' as const } }
      },
      fromHub: ({ spec, status: _, ...rest }) => ({ ...rest, spec: { picture: spec.image, replicas: spec.replicas } }),
    },
  })
  const old = (picture: string) => ({
    apiVersion: 'example.com/v1beta1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'ns' },
    spec: { picture, replicas: 2 },
  })

  it('converts to the hub and back without loss', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => text !== 'broken'),
        (picture) => {
          expect(convert(convert(old(picture), 'v1'), 'v1beta1')).toEqual(old(picture))
        },
      ),
    )
  })

  it('returns an object that already has the version', () => {
    const object = old('p')
    expect(convert(object, 'v1beta1')).toBe(object)
  })

  it('names the object and keeps the cause when a conversion fails', () => {
    expect(() => convert(old('broken'), 'v1')).toThrow(/Widget ns\/w cannot be converted from v1beta1 to v1/)
  })

  it('rejects objects of another group and unknown versions', () => {
    expect(() => convert({ ...old('p'), apiVersion: 'other.com/v1' }, 'v1')).toThrow(/not of the group example\.com/)
    expect(() => convert(old('p'), 'v7')).toThrow(/no version "v7"/)
    expect(() => convert(old('p'), 'constructor')).toThrow(/no version "constructor"/)
    expect(() => objectSchema(WidgetCrd, 'constructor')).toThrow(/no version "constructor"/)
  })
})

describe('the types of a CRD', () => {
  it('reject unknown keys of a version', () => {
    const spec = Type.Object({ size: Type.Integer() })
    const common = { group: 'example.com', kind: 'Box', plural: 'boxes', scope: 'Namespaced' } as const
    // @ts-expect-error -- colums is not a key of a version
    const inline = defineCrd({ ...common, versions: { v1: { spec, colums: [] } } })
    const v1 = { spec, storge: true } as const
    // @ts-expect-error -- storge is not a key of a version
    const separate = defineCrd({ ...common, versions: { v1 } })
    expect([inline.name, separate.name]).toEqual(['boxes.example.com', 'boxes.example.com'])
  })
})
