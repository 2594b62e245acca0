/** Rules of custom resources: what expressions support, where they apply and how they reject. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApiResource } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { DEFINITIONS, defineWidgets, definitionOf, schemaOf, uniqueGroup } from './support/custom-resource.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
// Without limits a real server estimates that rules may be too expensive.
const text = { type: 'string', maxLength: 50 }
const texts = { type: 'array', maxItems: 5, items: text }
const numbers = { type: 'array', maxItems: 5, items: { type: 'integer' } }

/** Each expression with fields that satisfy it and fields that violate it. */
const expressions: readonly (readonly [name: string, rule: string, good: Json, bad: Json])[] = [
  ['patterns', "self.a.matches('^[a-z]+$')", { a: 'abc' }, { a: 'a1' }],
  ['substrings', "self.a.find('[0-9]+') == '12'", { a: 'x12y' }, { a: 'x1y' }],
  ['all substrings', "self.a.findAll('[0-9]').size() == 2", { a: '1a2' }, { a: '1a' }],
  ['split text', "self.a.split('/') == ['x', 'y']", { a: 'x/y' }, { a: 'x y' }],
  ['replaced text', "self.a.replace('o', '0') == '00'", { a: 'oo' }, { a: 'ox' }],
  ['lower case', "self.a.lowerAscii() == 'abc'", { a: 'ABC' }, { a: 'ABD' }],
  ['formatted text', "'%s-%d'.format([self.a, self.n]) == 'x-3'", { a: 'x', n: 3 }, { a: 'x', n: 4 }],
  ['URLs', "isURL(self.a) && url(self.a).getHost() == 'x:1'", { a: 'http://x:1/p' }, { a: 'http://y/p' }],
  ['IP addresses', 'isIP(self.a) && ip(self.a).family() == 4', { a: '10.0.0.1' }, { a: '::1' }],
  ['CIDR ranges', "isCIDR(self.a) && cidr(self.a).containsIP('10.1.2.3')", { a: '10.0.0.0/8' }, { a: '11.0.0.0/8' }],
  ['quantities', "isQuantity(self.a) && quantity(self.a).isLessThan(quantity('1Gi'))", { a: '500Mi' }, { a: '2Gi' }],
  ['versions', "isSemver(self.a) && semver(self.a).compareTo(semver('1.2.0')) >= 0", { a: '1.10.0' }, { a: '1.1.9' }],
  ['API names', '!format.dns1123Label().validate(self.a).hasValue()', { a: 'good-name' }, { a: 'Bad_Name' }],
  ['durations', "duration(self.a) <= duration('1h')", { a: '59m' }, { a: '61m' }],
  ['times', 'timestamp(self.a).getFullYear() >= 2000', { a: '2020-01-01T00:00:00Z' }, { a: '1999-01-01T00:00:00Z' }],
  ['sums', 'self.l.sum() == 6 && self.l.max() == 3', { l: [1, 2, 3] }, { l: [1, 2, 4] }],
  ['order', 'self.l.isSorted()', { l: [1, 2, 2] }, { l: [2, 1] }],
  ['list indexes', 'self.l.indexOf(2) == 1', { l: [1, 2] }, { l: [2, 1] }],
  ['sets', "sets.contains(['a', 'b'], self.t)", { t: ['b', 'a'] }, { t: ['c'] }],
  ['every item', "self.t.all(x, x.startsWith('w-'))", { t: ['w-1', 'w-2'] }, { t: ['w-1', 'x'] }],
  ['some item', 'self.l.exists(x, x > 2)', { l: [1, 3] }, { l: [1, 2] }],
  ['exactly one item', 'self.l.exists_one(x, x > 2)', { l: [1, 3] }, { l: [3, 4] }],
  ['filtered and mapped items', 'self.l.filter(x, x > 1).map(x, x * 2) == [4]', { l: [1, 2] }, { l: [2, 2] }],
  ['items with their indexes', 'self.l.all(i, x, x == i)', { l: [0, 1] }, { l: [1, 0] }],
  ['maybe', "self.?a.orValue('x') == 'x'", {}, { a: 'y' }],
  ['presence', 'has(self.a) != has(self.n)', { a: 'x' }, { a: 'x', n: 1 }],
  ['choices', '(has(self.n) ? self.n : 5) > 3', {}, { n: 3 }],
  ['integers', 'self.n / 2 == 1 && self.n % 2 == 1', { n: 3 }, { n: 2 }],
  ['types', 'type(self.n) == int && string(self.n) == "7"', { n: 7 }, { n: 8 }],
]

describe('an expression supports', () => {
  let widgets: ApiResource
  beforeAll(async () => {
    const rules = expressions.map(([name, rule]) => ({
      rule: `self.about != ${JSON.stringify(name)} || (${rule})`,
      message: `not so: ${name}`,
    }))
    const properties = { about: text, a: text, n: { type: 'integer' }, l: numbers, t: texts }
    const schema = schemaOf(properties, { required: ['about'], 'x-kubernetes-validations': rules })
    widgets = await defineWidgets(api, { version: { schema } })
  })

  it.each(expressions)('%s', async (about, _, good, bad) => {
    const query = 'dryRun=All'
    const accepted = await widgets.create(unique('good'), { spec: { about, ...good } }, { query })
    expect([accepted.status, accepted.body.message]).toEqual([201, undefined])
    const rejected = await widgets.create('bad', { spec: { about, ...bad } }, { query })
    expect(rejected.status).toBe(422)
    expect(rejected.body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', message: `Invalid value: not so: ${about}`, field: 'spec' },
    ])
  })
})

// Every definition takes a real server two seconds, so cases wait for theirs concurrently.
describe.concurrent('a rule', () => {
  const causesOf = async (schema: Json, spec: Json) => {
    const widgets = await defineWidgets(api, { version: { schema } })
    return (await widgets.create('subject', { spec }, { query: 'dryRun=All' })).body.details.causes
  }
  const positive = [{ rule: 'self > 0', message: 'must be positive' }]

  it('applies to every item, and reports its index', async () => {
    const items = { type: 'integer', 'x-kubernetes-validations': positive }
    expect(await causesOf(schemaOf({ l: { type: 'array', maxItems: 5, items } }), { l: [1, -1] })).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: -1: must be positive', field: 'spec.l[1]' },
    ])
  })

  it('applies to every value of a map, and reports its key', async () => {
    const additionalProperties = { type: 'integer', 'x-kubernetes-validations': positive }
    const m = { type: 'object', maxProperties: 5, additionalProperties }
    expect(await causesOf(schemaOf({ m }), { m: { a: 1, b: -1 } })).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: -1: must be positive', field: 'spec.m[b]' },
    ])
  })

  it('may have its own message', async () => {
    const validations = [
      {
        rule: "self.a != 'x'",
        messageExpression: "'anything but ' + self.a",
        reason: 'FieldValueForbidden',
        fieldPath: '.a',
      },
    ]
    const schema = schemaOf({ a: text }, { 'x-kubernetes-validations': validations })
    expect(await causesOf(schema, { a: 'x' })).toEqual([
      { reason: 'FieldValueForbidden', message: 'Forbidden: anything but x', field: 'spec.a' },
    ])
  })

  it('is printed if it has no message', async () => {
    const schema = schemaOf({ n: { type: 'integer' } }, { 'x-kubernetes-validations': [{ rule: 'self.n < 3' }] })
    expect(await causesOf(schema, { n: 3 })).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: failed rule: self.n < 3', field: 'spec' },
    ])
  })

  it('that fails during evaluation rejects the object', async () => {
    const schema = schemaOf({ n: { type: 'integer' } }, { 'x-kubernetes-validations': [{ rule: '10 / self.n > 3' }] })
    expect(await causesOf(schema, { n: 0 })).toEqual([
      {
        reason: 'FieldValueInvalid',
        message: expect.stringContaining('division by zero evaluating rule: 10 / self.n > 3'),
        field: 'spec',
      },
    ])
  })

  it('may refer to the name of the object', async () => {
    const schema = schemaOf({})
    schema.openAPIV3Schema['x-kubernetes-validations'] = [{ rule: "self.metadata.name.startsWith('w-')" }]
    const widgets = await defineWidgets(api, { version: { schema } })
    expect((await widgets.create('w-good', {}, { query: 'dryRun=All' })).status).toBe(201)
    expect((await widgets.create('bad', {}, { query: 'dryRun=All' })).status).toBe(422)
  })

  it('may make a field immutable', async () => {
    const a = { ...text, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'stays as it is' }] }
    const widgets = await defineWidgets(api, { version: { schema: schemaOf({ a, b: text }) } })
    await widgets.given('kept', { spec: { a: 'x' } })
    expect((await widgets.patch('merge', 'kept', { spec: { b: 'y' } })).status).toBe(200)
    const { status, body } = await widgets.patch('merge', 'kept', { spec: { a: 'z' } })
    expect(status).toBe(422)
    expect(body.details.causes).toEqual([
      { reason: 'FieldValueInvalid', message: 'Invalid value: "z": stays as it is', field: 'spec.a' },
    ])
  })

  it('may check whether there was an old value', async () => {
    const validations = [
      { rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true, message: 'begins as new' },
    ]
    const a = { ...text, 'x-kubernetes-validations': validations }
    const widgets = await defineWidgets(api, { version: { schema: schemaOf({ a }) } })
    expect((await widgets.create('first', { spec: { a: 'old' } })).status).toBe(422)
    await widgets.given('second', { spec: { a: 'new' } })
    expect((await widgets.patch('merge', 'second', { spec: { a: 'old' } })).status).toBe(200)
  })

  it('ignores what an update does not change', async () => {
    const group = uniqueGroup()
    const widgets = await defineWidgets(api, { group, version: { schema: schemaOf({ a: text, b: text }) } })
    await widgets.given('older', { spec: { a: 'BAD' } })
    const strict = { ...text, 'x-kubernetes-validations': [{ rule: "self.matches('^[a-z]*$')" }] }
    const stricter = definitionOf(group, { version: { schema: schemaOf({ a: strict, b: text }) } })
    const { versions } = stricter.spec
    await api.patch(`${DEFINITIONS}/widgets.${group}`, { spec: { versions } })
    await until('the rule takes effect', async () => {
      const { status } = await widgets.create('newer', { spec: { a: 'BAD' } }, { query: 'dryRun=All' })
      return status === 422
    })
    expect((await widgets.patch('merge', 'older', { spec: { b: 'x' } })).status).toBe(200)
    expect((await widgets.patch('merge', 'older', { spec: { a: 'WORSE' } })).status).toBe(422)
  })
})

describe('a definition is rejected for', () => {
  it.each<[string, Json, string]>([
    [
      'an expression that cannot be parsed',
      { rule: 'self.a ==' },
      'compilation failed: ERROR: <input>:1:10: Syntax error',
    ],
    ['a function that does not exist', { rule: 'self.a.shout()' }, "undeclared reference to 'shout'"],
    ['values that cannot be compared', { rule: 'self.a == 1' }, "found no matching overload for '_==_'"],
    ['a rule that is not boolean', { rule: 'self.a' }, 'cel expression must evaluate to a bool'],
    [
      'a message that is not a string',
      { rule: 'true', messageExpression: '1' },
      'messageExpression must evaluate to a string',
    ],
    ['an empty rule', { rule: ' ' }, 'Required value: rule is not specified'],
    [
      'a field path that does not exist',
      { rule: 'true', fieldPath: '.zz' },
      'Invalid value: ".zz": must be a valid path',
    ],
    ['an unknown reason', { rule: 'true', reason: 'Because' }, 'Unsupported value: "Because"'],
    ['a message of several lines', { rule: 'true', message: 'a\nb' }, 'must not contain line breaks'],
  ])('%s', async (_, rule, message) => {
    const schema = schemaOf({ a: text }, { 'x-kubernetes-validations': [rule] })
    const { status, body } = await api.post(DEFINITIONS, definitionOf(uniqueGroup(), { version: { schema } }))
    expect(status).toBe(422)
    expect(body.message).toContain(message)
    expect(body.details.causes[0].field).toContain('properties[spec].x-kubernetes-validations[0]')
  })
})
