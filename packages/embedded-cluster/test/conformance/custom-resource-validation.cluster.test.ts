/** Custom resources are pruned, defaulted and validated by the schema of their definition. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ApiResource } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { defineWidgets } from './support/custom-resource.ts'
import { badRequest, failure, invalid } from './support/status.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()
let widgets: ApiResource
let group: string

const text = { type: 'string' }
const integer = { type: 'integer' }
const object = (properties: Json, more: Json = {}) => ({ type: 'object', properties, ...more })
const pair = { a: text, b: text }

const properties = {
  text,
  integer,
  number: { type: 'number' },
  flag: { type: 'boolean' },
  list: { type: 'array', items: text, minItems: 1, maxItems: 2 },
  map: { type: 'object', additionalProperties: integer, minProperties: 1, maxProperties: 2 },
  color: { ...text, enum: ['red', 'blue'] },
  from1to5: { ...integer, minimum: 1, maximum: 5 },
  between1and5: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
  fives: { ...integer, multipleOf: 5 },
  short: { ...text, minLength: 2, maxLength: 3 },
  as: { ...text, pattern: '^a+$' },
  both: object(pair, { required: ['a', 'b'] }),
  any: object(pair, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  one: object(pair, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
  all: object(pair, { allOf: [{ required: ['a'] }, { required: ['b'] }] }),
  not: object(pair, { not: { required: ['a'] } }),
  port: { 'x-kubernetes-int-or-string': true },
  nullable: { ...text, nullable: true },
  open: object({ known: integer }, { 'x-kubernetes-preserve-unknown-fields': true }),
  anything: { 'x-kubernetes-preserve-unknown-fields': true },
  embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  keyed: {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key'],
    items: object({ key: text, value: text }, { required: ['key'] }),
  },
  nested: { type: 'array', items: object({ deep: object({ count: integer }) }) },
  int32: { ...integer, format: 'int32' },
  time: { ...text, format: 'date-time' },
  duration: { ...text, format: 'duration' },
  bytes: { ...text, format: 'byte' },
  uuid: { ...text, format: 'uuid' },
  ipv4: { ...text, format: 'ipv4' },
  cidr: { ...text, format: 'cidr' },
  uri: { ...text, format: 'uri' },
  host: { ...text, format: 'hostname' },
  unheardOf: { ...text, format: 'unheard-of' },
}

beforeAll(async () => {
  widgets = await defineWidgets(api, { properties })
  group = widgets.path().split('/')[2] ?? ''
})

const trial = (spec: Json, query = '') => widgets.create('x', { spec }, { query: `dryRun=All${query}` })

describe('a value is rejected', () => {
  const type = (field: string, is: string, actual: string): [string, string] => [
    'FieldValueTypeInvalid',
    `Invalid value: "${actual}": spec.${field} in body must be of type ${is}: "${actual}"`,
  ]
  const bad = (value: string, field: string, why: string): [string, string] => [
    'FieldValueInvalid',
    `Invalid value: ${value}: spec.${field} in body should ${why}`,
  ]

  it.each<[string, string, unknown, [string, string], string?]>([
    ['for a string that is a number', 'text', 1, type('text', 'string', 'integer')],
    ['for an integer that is a string', 'integer', '1', type('integer', 'integer', 'string')],
    ['for an integer with a fraction', 'integer', 1.5, type('integer', 'integer', 'number')],
    ['for a number that is a string', 'number', '1', type('number', 'number', 'string')],
    ['for a boolean that is a string', 'flag', 'true', type('flag', 'boolean', 'string')],
    ['for a list that is an object', 'list', {}, type('list', 'array', 'object')],
    ['for an object that is a list', 'both', [], type('both', 'object', 'array')],
    ['for an int-or-string that is a boolean', 'port', true, type('port', 'integer,string', 'boolean')],
    ['for a value of a map', 'map', { a: 'x' }, type('map.a', 'integer', 'string'), 'map.a'],
    ['for an item of a list', 'list', [1], type('list[0]', 'string', 'integer'), 'list[0]'],
    [
      'in a nested object',
      'nested',
      [{}, { deep: { count: 'x' } }],
      type('nested[1].deep.count', 'integer', 'string'),
      'nested[1].deep.count',
    ],
    [
      'when it is not one of the allowed values',
      'color',
      'green',
      ['FieldValueNotSupported', 'Unsupported value: "green": supported values: "red", "blue"'],
    ],
    ['below the minimum', 'from1to5', 0, bad('0', 'from1to5', 'be greater than or equal to 1')],
    ['above the maximum', 'from1to5', 6, bad('6', 'from1to5', 'be less than or equal to 5')],
    ['at an exclusive minimum', 'between1and5', 1, bad('1', 'between1and5', 'be greater than 1')],
    ['at an exclusive maximum', 'between1and5', 5, bad('5', 'between1and5', 'be less than 5')],
    ['when it is not a multiple', 'fives', 7, bad('7', 'fives', 'be a multiple of 5')],
    ['when it is too short', 'short', 'a', bad('"a"', 'short', 'be at least 2 chars long')],
    ['when it is too long', 'short', 'abcd', ['FieldValueTooLong', 'Too long: may not be more than 3 bytes']],
    ['when it does not match the pattern', 'as', 'b', bad('"b"', 'as', "match '^a+$'")],
    ['with too few items', 'list', [], bad('0', 'list', 'have at least 1 items')],
    ['with too many items', 'list', ['a', 'b', 'c'], ['FieldValueTooMany', 'Too many: 3: must have at most 2 items']],
    ['with too few entries', 'map', {}, bad('0', 'map', 'have at least 1 properties')],
    [
      'with too many entries',
      'map',
      { a: 1, b: 2, c: 3 },
      ['FieldValueTooMany', 'Too many: 3: must have at most 2 items'],
    ],
    ['without a required field', 'both', { a: 'x' }, ['FieldValueRequired', 'Required value'], 'both.b'],
    ['when it is twice in a set', 'set', ['a', 'b', 'a'], ['FieldValueDuplicate', 'Duplicate value: "a"'], 'set[2]'],
    [
      'with a duplicate key',
      'keyed',
      [{ key: 'a' }, { key: 'a', value: 'x' }],
      ['FieldValueDuplicate', 'Duplicate value: {"key":"a"}'],
      'keyed[1]',
    ],
    ['without its key', 'keyed', [{ value: 'x' }], ['FieldValueRequired', 'Required value'], 'keyed[0].key'],
    ['that is not a time', 'time', 'yesterday', type('time', 'date-time', 'yesterday')],
    ['that is not a duration', 'duration', 'long', type('duration', 'duration', 'long')],
    ['that is not base64', 'bytes', '$', type('bytes', 'byte', '$')],
    ['that is not a UUID', 'uuid', 'x', type('uuid', 'uuid', 'x')],
    ['that is not an address', 'ipv4', '1.2.3', type('ipv4', 'ipv4', '1.2.3')],
    ['that is not a network', 'cidr', '10.0.0.0', type('cidr', 'cidr', '10.0.0.0')],
    ['that is not a URI', 'uri', 'a b', type('uri', 'uri', 'a b')],
    ['that is not a host name', 'host', 'a_b', type('host', 'hostname', 'a_b')],
  ])('%s', async (_, field, value, [reason, message], at = field) => {
    const { status, body } = await trial({ [field]: value })
    expect(body).toEqual(invalid(`Widget.${group}`, 'x', { field: `spec.${at}`, reason, message }))
    expect(status).toBe(422)
  })

  it.each<[string, string, Json, string]>([
    ['when no alternative matches', 'any', {}, '"spec.any" must validate at least one schema (anyOf)'],
    [
      'when two alternatives match',
      'one',
      { a: '1', b: '2' },
      '"spec.one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
    ['when one of all does not match', 'all', { a: '1' }, '"spec.all" must validate all the schemas (allOf)'],
    ['when it matches what it must not', 'not', { a: '1' }, '"spec.not" must not validate the schema (not)'],
  ])('%s', async (_, field, value, message) => {
    const { status, body } = await trial({ [field]: value })
    expect(status).toBe(422)
    expect(body.message).toContain(`<nil>: Invalid value: "": ${message}`)
  })

  it('together with all others', async () => {
    const { body } = await trial({ text: 1, integer: 'x', color: 'green', list: [] })
    expect(body.details.causes.map(({ field }: Json) => field).sort()).toEqual([
      'spec.color',
      'spec.integer',
      'spec.list',
      'spec.text',
    ])
    expect(body.message).toMatch(new RegExp(`^Widget\\.${group} "x" is invalid: \\[spec\\..*\\]$`))
  })

  it.each<[string, Json, [string, string], [string, string]]>([
    [
      'without version and kind',
      {},
      ['FieldValueRequired', 'Required value'],
      ['FieldValueRequired', 'Required value'],
    ],
    [
      'with an empty version and kind',
      { apiVersion: '', kind: '' },
      ['FieldValueInvalid', 'Invalid value: "": must not be empty'],
      ['FieldValueInvalid', 'Invalid value: "": must not be empty'],
    ],
  ])('as an embedded object %s', async (_, embedded, version, kind) => {
    const { body } = await trial({ embedded })
    const byField = (a: Json, b: Json) => a.field.localeCompare(b.field)
    expect(body.details.causes.toSorted(byField)).toEqual([
      { reason: version[0], message: version[1], field: 'spec.embedded.apiVersion' },
      { reason: kind[0], message: kind[1], field: 'spec.embedded.kind' },
    ])
  })
})

describe('a value is accepted', () => {
  it.each<[string, Json]>([
    ['when an integer is written with a fraction of zero', { integer: 1.0 }],
    ['when a number is an integer', { number: 1 }],
    ['when its characters, not its bytes, are within the limit', { short: 'äöü' }],
    ['as a number or a string where both are allowed', { port: 80 }],
    ['as a string where numbers are also allowed', { port: 'http' }],
    ['as null where that is allowed', { nullable: null }],
    ['of any kind where anything is allowed', { anything: [1, { a: null }] }],
    ['when exactly one alternative matches', { one: { b: '2' } }],
    ['beyond 32 bits, which its format does not forbid', { int32: 2 ** 31 }],
    ['with an unknown format', { unheardOf: '???' }],
    ['as a time with an offset', { time: '2024-01-01T00:00:00.5+02:00' }],
    ['as an embedded object', { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { a: 1 } } }],
  ])('%s', async (_, spec) => {
    const { status, body } = await trial(spec)
    expect(status).toBe(201)
    expect(body.spec).toEqual(spec)
  })
})

describe('null', () => {
  it('is dropped where it is not allowed', async () => {
    const { body } = await trial({ text: null, nested: [{ deep: null }] })
    expect(body.spec).toEqual({ nested: [{}] })
  })

  it('is rejected as the item of a list', async () => {
    const { body } = await trial({ list: [null] })
    expect(body.message).toBe(
      `Widget.${group} "x" is invalid: spec.list[0]: Invalid value: "null": spec.list[0] in body must be of type string: "null"`,
    )
  })
})

describe('an unknown field', () => {
  const spec = { unknown: 1, both: { a: '1', b: '2', c: '3' }, nested: [{ deep: { other: 1 } }] }
  const known = { both: { a: '1', b: '2' }, nested: [{ deep: {} }] }
  const fields = ['spec.both.c', 'spec.nested[0].deep.other', 'spec.unknown']

  it('is dropped with a warning', async () => {
    const reply = await trial(spec)
    expect(reply.body.spec).toEqual(known)
    expect(warningsOf(reply)).toEqual(fields.map((field) => `unknown field "${field}"`))
  })

  it('is dropped silently on request', async () => {
    const reply = await trial(spec, '&fieldValidation=Ignore')
    expect(reply.body.spec).toEqual(known)
    expect(warningsOf(reply)).toEqual([])
  })

  it('is rejected in strict mode', async () => {
    const list = fields.map((field) => `unknown field "${field}"`).join(', ')
    expect((await trial(spec, '&fieldValidation=Strict')).body).toEqual(
      badRequest(`Widget in version "v1" cannot be handled as a Widget: strict decoding error: ${list}`),
    )
  })

  it('is kept where the schema is open, and known fields there are still validated', async () => {
    expect((await trial({ open: { known: 1, other: { a: 1 } } })).body.spec).toEqual({
      open: { known: 1, other: { a: 1 } },
    })
    expect((await trial({ open: { known: 'x' } })).status).toBe(422)
  })

  it('of the metadata is dropped too', async () => {
    const reply = await widgets.create('x', { metadata: { color: 'red' } }, { query: 'dryRun=All' })
    expect(reply.body.metadata.color).toBeUndefined()
    expect(warningsOf(reply)).toEqual(['unknown field "metadata.color"'])
  })
})

describe('the metadata of a custom resource', () => {
  it.each<[string, Json, string]>([
    [
      'a name that is a number',
      { name: 5 },
      'cannot unmarshal number into Go struct field ObjectMeta.name of type string',
    ],
    [
      'a label that is a number',
      { labels: { a: 1 } },
      'cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
  ])('with %s is rejected', async (_, metadata, message) => {
    const { body } = await widgets.create('x', { metadata }, { query: 'dryRun=All' })
    expect(body).toEqual(badRequest(`Widget in version "v1" cannot be handled as a Widget: json: ${message}`))
  })

  it('loses empty maps and lists', async () => {
    const metadata = { labels: {}, annotations: {}, finalizers: [], ownerReferences: [] }
    const { body } = await widgets.create('x', { metadata }, { query: 'dryRun=All' })
    expect(Object.keys(body.metadata).sort()).toEqual(['creationTimestamp', 'generation', 'name', 'namespace', 'uid'])
  })

  it('does not replace the kind of the object', async () => {
    const { body } = await api.post(widgets.path(), { metadata: { name: 'x' } })
    const sent = '{"metadata":{"name":"x"}}'
    expect(body).toEqual(
      badRequest(
        `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '${sent}' (${sent})`,
      ),
    )
  })

  it.each<[string, string]>([
    ['no version', ''],
    ['another version', 'example.com/v9'],
  ])('does not replace %s', async (_, apiVersion) => {
    const { body } = await api.post(widgets.path(), { apiVersion, kind: 'Widget', metadata: { name: 'x' } })
    expect(body).toEqual(
      badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${group}/v1)`),
    )
  })

  it('does not replace another kind', async () => {
    const { body } = await widgets.create('x', { kind: 'Gadget' })
    expect(body).toEqual(
      invalid(`Gadget.${group}`, 'x', {
        field: 'kind',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "Gadget": must be Widget',
      }),
    )
  })
})

describe('a custom resource', () => {
  it('does not support strategic merge patch', async () => {
    await widgets.given('strategic', { spec: { text: 'a' } })
    expect((await widgets.patch('strategic', 'strategic', { spec: { text: 'b' } })).body).toEqual(
      failure({
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      }),
    )
  })

  it('is replaced only with its resourceVersion', async () => {
    const created = await widgets.given('replaced', { spec: { text: 'a' } })
    const { resourceVersion: _, ...metadata } = created.metadata
    expect((await widgets.replace('replaced', { ...created, metadata })).body).toEqual(
      invalid(`widgets.${group}`, 'replaced', {
        field: 'metadata.resourceVersion',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 0: must be specified for an update',
      }),
    )
    expect((await widgets.replace('replaced', { ...created, spec: { text: 'b' } })).body.metadata.generation).toBe(2)
  })

  it('counts changes of everything but its metadata as generations', async () => {
    await widgets.given('counted', { spec: { text: 'a' } })
    const labelled = await widgets.patch('merge', 'counted', { metadata: { labels: { a: 'b' } } })
    expect(labelled.body.metadata.generation).toBe(1)
    const changed = await widgets.patch('merge', 'counted', { status: { anything: 1 } })
    expect(changed.body.metadata.generation).toBe(2)
  })

  it.each<[string, string]>([
    ['cleanup', 'prefer a domain-qualified finalizer name'],
    ['example.com', 'prefer a domain-qualified finalizer name including a path (/)'],
  ])('with the finalizer %s is accepted with a warning', async (finalizer, recommendation) => {
    const reply = await widgets.create('x', { metadata: { finalizers: [finalizer] } }, { query: 'dryRun=All' })
    expect(reply.status).toBe(201)
    expect(warningsOf(reply)).toEqual([
      `metadata.finalizers: "${finalizer}": ${recommendation} to avoid accidental conflicts with other finalizer writers`,
    ])
  })
})
