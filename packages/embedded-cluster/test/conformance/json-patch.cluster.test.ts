/** JSON patches: the effect of each operation, and the errors of invalid patches. */
import { describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { ownersOf } from './support/owned-fields.ts'
import { badRequest, conflict, failure, invalid, notFound } from './support/status.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')

/** The error for every operation that fails. */
const rejected = failure({
  code: 422,
  reason: 'Invalid',
  message: 'the server rejected our request due to an error in our request',
  details: {},
})

describe('a JSON patch', () => {
  it.each<[string, string, Json, Json]>([
    ['adds a field', 'adds', [{ op: 'add', path: '/data/b', value: '2' }], { a: '1', b: '2' }],
    ['adds over a field', 'adds-over', [{ op: 'add', path: '/data/a', value: '2' }], { a: '2' }],
    ['replaces a field', 'replaces', [{ op: 'replace', path: '/data/a', value: '2' }], { a: '2' }],
    ['sets a missing field with replace', 'sets', [{ op: 'replace', path: '/data/b', value: '2' }], { a: '1', b: '2' }],
    ['removes a field', 'removes', [{ op: 'remove', path: '/data/a' }], undefined],
    ['removes an object', 'removes-all', [{ op: 'remove', path: '/data' }], undefined],
    ['moves a field', 'moves', [{ op: 'move', from: '/data/a', path: '/data/b' }], { b: '1' }],
    ['copies a field', 'copies', [{ op: 'copy', from: '/data/a', path: '/data/b' }], { a: '1', b: '1' }],
    [
      'copies a missing field as null',
      'copies-none',
      [{ op: 'copy', from: '/data/z', path: '/data/b' }],
      { a: '1', b: '' },
    ],
    ['treats null as the empty value', 'adds-null', [{ op: 'add', path: '/data/b', value: null }], { a: '1', b: '' }],
    [
      'continues after a successful test',
      'tests',
      [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/b', value: '2' },
      ],
      { a: '1', b: '2' },
    ],
    [
      'treats a missing value as null in a test',
      'tests-absence',
      [
        { op: 'test', path: '/data/b', value: null },
        { op: 'add', path: '/data/b', value: '2' },
      ],
      { a: '1', b: '2' },
    ],
    [
      'applies its operations in order',
      'in-order',
      [
        { op: 'add', path: '/data/b', value: '2' },
        { op: 'remove', path: '/data/b' },
        { op: 'add', path: '/data/c', value: '3' },
      ],
      { a: '1', c: '3' },
    ],
    ['without operations changes nothing', 'empty', [], { a: '1' }],
  ])('%s', async (_, name, operations, data) => {
    await configMaps.given(name, { data: { a: '1' } })
    const { status, body } = await configMaps.patch('json', name, operations)
    expect(body.data).toEqual(data)
    expect(status).toBe(200)
  })

  it('treats ~1 in a path as a slash', async () => {
    await configMaps.given('escapes', { metadata: { annotations: { 'example.com/a': '1' } } })
    const { body } = await configMaps.patch('json', 'escapes', [
      { op: 'replace', path: '/metadata/annotations/example.com~1a', value: '2' },
    ])
    expect(body.metadata.annotations).toEqual({ 'example.com/a': '2' })
  })

  it('inserts into lists by index, and appends at the dash', async () => {
    const finalizers = ['example.com/a', 'example.com/d']
    await configMaps.given('lists', { metadata: { finalizers } })
    const { body } = await configMaps.patch('json', 'lists', [
      { op: 'add', path: '/metadata/finalizers/1', value: 'example.com/b' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'example.com/e' },
      { op: 'replace', path: '/metadata/finalizers/2', value: 'example.com/c' },
      { op: 'remove', path: '/metadata/finalizers/0' },
    ])
    expect(body.metadata.finalizers).toEqual(['example.com/b', 'example.com/c', 'example.com/e'])
    await configMaps.patch('json', 'lists', [{ op: 'remove', path: '/metadata/finalizers' }])
  })

  it('without changes keeps the resourceVersion', async () => {
    const before = await configMaps.given('no-op', { data: { a: '1' } })
    const { body } = await configMaps.patch('json', 'no-op', [{ op: 'replace', path: '/data/a', value: '1' }])
    expect(body).toEqual(before)
  })

  it('is atomic', async () => {
    await configMaps.given('atomic', { data: { a: '1' } })
    const { body } = await configMaps.patch('json', 'atomic', [
      { op: 'add', path: '/data/b', value: '2' },
      { op: 'test', path: '/data/a', value: 'other' },
    ])
    expect(body).toEqual(rejected)
    expect((await configMaps.get('atomic')).body.data).toEqual({ a: '1' })
  })

  it('as a dry run does not change the object', async () => {
    const before = await configMaps.given('dry', { data: { a: '1' } })
    const operations = [{ op: 'add', path: '/data/b', value: '2' }]
    const { body } = await configMaps.patch('json', 'dry', operations, { query: 'dryRun=All' })
    expect(body.data).toEqual({ a: '1', b: '2' })
    expect(body.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    expect((await configMaps.get('dry')).body).toEqual(before)
  })

  it('makes its manager the owner of the fields it changes', async () => {
    await configMaps.given('owned', { data: { a: '1', b: '2' } }, { query: 'fieldManager=alice' })
    const operations = [{ op: 'replace', path: '/data/a', value: '9' }]
    const { body } = await configMaps.patch('json', 'owned', operations, { query: 'fieldManager=bob' })
    expect(ownersOf(body)).toEqual({ 'alice Update': ['.data', '.data.b'], 'bob Update': ['.data.a'] })
  })
})

describe('a JSON patch is rejected', () => {
  it.each<[string, Json]>([
    ['when a test fails', [{ op: 'test', path: '/data/a', value: '2' }]],
    ['when it tests a missing value', [{ op: 'test', path: '/data/z', value: '2' }]],
    ['when it removes a missing value', [{ op: 'remove', path: '/data/z' }]],
    ['when it adds below a missing value', [{ op: 'add', path: '/binaryData/z', value: 'x' }]],
    ['when it moves a missing value', [{ op: 'move', from: '/data/z', path: '/data/b' }]],
    ['when an operation is unknown', [{ op: 'explode', path: '/data/a' }]],
    ['when an operation has no path', [{ op: 'remove' }]],
    [
      'when an index is beyond the end of a list',
      [
        { op: 'add', path: '/metadata/finalizers', value: ['example.com/a'] },
        { op: 'add', path: '/metadata/finalizers/5', value: 'example.com/b' },
      ],
    ],
  ])('%s', async (_, operations) => {
    await configMaps.create('refuses', { data: { a: '1' } })
    const { status, body } = await configMaps.patch('json', 'refuses', operations, { query: 'dryRun=All' })
    expect(body).toEqual(rejected)
    expect(status).toBe(422)
  })

  it.each<[string, unknown, Json]>([
    [
      'when it is not a list',
      { op: 'remove', path: '/data/a' },
      badRequest('error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'),
    ],
    [
      'when an operation is not an object',
      [5],
      badRequest('error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'),
    ],
    ['when it is empty', '', badRequest('error decoding patch: unexpected end of JSON input')],
    [
      'when it has more than 10000 operations',
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/a', value: '1' })),
      failure({
        code: 413,
        reason: 'RequestEntityTooLarge',
        message: 'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
      }),
    ],
    [
      'when it renames the object',
      [{ op: 'replace', path: '/metadata/name', value: 'other' }],
      badRequest('the name of the object (other) does not match the name on the URL (malformed)'),
    ],
    [
      'when it removes the name',
      [{ op: 'remove', path: '/metadata/name' }],
      badRequest('the name of the object (malformed based on URL) was undeterminable: name must be provided'),
    ],
    [
      'when it moves the object to another namespace',
      [{ op: 'replace', path: '/metadata/namespace', value: 'other' }],
      badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    ],
    [
      'when it has a stale resourceVersion',
      [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }],
      conflict('configmaps', 'malformed'),
    ],
  ])('%s', async (_, operations, expected) => {
    await configMaps.create('malformed', { data: { a: '1' } })
    const { status, body } = await configMaps.patch('json', 'malformed', operations, { query: 'dryRun=All' })
    expect(body).toEqual(expected)
    expect(status).toBe(expected.code)
  })

  it('when it changes the uid', async () => {
    await configMaps.given('uid')
    const { body } = await configMaps.patch('json', 'uid', [{ op: 'replace', path: '/metadata/uid', value: 'x' }])
    const wrong = {
      field: 'metadata.uid',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "x": field is immutable',
    }
    expect(body).toMatchObject({
      ...invalid('ConfigMap', 'uid', wrong),
      details: { name: 'uid', kind: 'ConfigMap', causes: [wrong, wrong] },
    })
  })

  it.each<[string, Json, string, string]>([
    [
      'of the wrong type',
      [{ op: 'add', path: '/data/b', value: 5 }],
      '',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'that is unknown, in strict mode',
      [{ op: 'add', path: '/spec', value: 5 }],
      'fieldValidation=Strict',
      'strict decoding error: unknown field "spec"',
    ],
    [
      'of an operation that is unknown, in strict mode',
      [{ op: 'add', path: '/data/b', value: '1', vlaue: '2' }],
      'fieldValidation=Strict',
      'strict decoding error: json patch unknown field "[0].vlaue"',
    ],
  ])('when it sets a field %s', async (_, operations, query, message) => {
    await configMaps.create('undecodable', { data: { a: '1' } })
    const { status, body } = await configMaps.patch('json', 'undecodable', operations, { query: `dryRun=All&${query}` })
    expect(status).toBe(422)
    expect(body).toMatchObject({
      reason: 'Invalid',
      details: { causes: [{ field: 'patch', reason: 'FieldValueInvalid', message: expect.stringContaining(message) }] },
    })
    expect(body.message).toMatch(/^ "" is invalid: patch: Invalid value: /)
  })

  it('when there is no object, or no name', async () => {
    expect((await configMaps.patch('json', 'nobody', [])).body).toEqual(notFound('configmaps', 'nobody'))
    const headers = { 'content-type': 'application/json-patch+json' }
    expect((await api.patch(configMaps.path(), [], headers)).status).toBe(405)
  })

  it('when it sets force, which is only for apply', async () => {
    await configMaps.given('forced')
    expect((await configMaps.patch('json', 'forced', [], { query: 'force=true' })).body).toEqual(
      invalid('PatchOptions.meta.k8s.io', '', {
        field: 'force',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: may not be specified for non-apply patch',
      }),
    )
  })
})

describe('an unknown field in a JSON patch', () => {
  const operations = [{ op: 'add', path: '/spec', value: { a: 1 } }]

  it('is dropped with a warning', async () => {
    await configMaps.given('warned')
    const reply = await configMaps.patch('json', 'warned', operations)
    expect(reply.body.spec).toBeUndefined()
    expect(warningsOf(reply)).toEqual(['unknown field "spec"'])
  })

  it('is dropped silently on request', async () => {
    await configMaps.given('silent')
    const reply = await configMaps.patch('json', 'silent', operations, { query: 'fieldValidation=Ignore' })
    expect(reply.body.spec).toBeUndefined()
    expect(warningsOf(reply)).toEqual([])
  })
})
