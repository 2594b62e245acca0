/** Merge patches: fields are set, null removes them, lists are replaced as a whole. */
import { beforeAll, describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { ownersOf } from './support/owned-fields.ts'
import { badRequest, conflict, failure, notFound } from './support/status.ts'
import { warningsOf } from './support/warnings.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
const services = resourceOf(api, 'v1', 'Service', 'services')

describe('a merge patch', () => {
  it.each<[string, string, Json, Json, Json]>([
    ['sets a field', 'sets', { data: { b: '2' } }, { a: '1', b: '2' }, { x: 'y' }],
    ['removes a field with null', 'removes', { data: { a: null, b: '2' } }, { b: '2' }, { x: 'y' }],
    ['removes an object with null', 'removes-all', { data: null }, undefined, { x: 'y' }],
    ['ignores the removal of a missing field', 'peace', { data: { z: null } }, { a: '1' }, { x: 'y' }],
    [
      'keeps fields that it does not contain',
      'leaves',
      { metadata: { labels: { z: 'z' } } },
      { a: '1' },
      { x: 'y', z: 'z' },
    ],
    ['removes labels with null', 'labels', { metadata: { labels: null } }, { a: '1' }, undefined],
    ['that is empty changes nothing', 'empty', {}, { a: '1' }, { x: 'y' }],
  ])('%s', async (_, name, patch, data, labels) => {
    await configMaps.given(name, { metadata: { labels: { x: 'y' } }, data: { a: '1' } })
    const { status, body } = await configMaps.patch('merge', name, patch)
    expect({ data: body.data, labels: body.metadata.labels }).toEqual({ data, labels })
    expect(status).toBe(200)
  })

  it('replaces lists as a whole', async () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ]
    await services.given('lists', { spec: { ports } })
    const { body } = await services.patch('merge', 'lists', { spec: { ports: [{ port: 8080 }] } })
    expect(body.spec.ports).toEqual([{ port: 8080, targetPort: 8080, protocol: 'TCP' }])
  })

  it('without changes keeps the resourceVersion', async () => {
    const before = await configMaps.given('no-op', { data: { a: '1' } })
    expect((await configMaps.patch('merge', 'no-op', { data: { a: '1', b: null } })).body).toEqual(before)
  })

  it('takes over the fields it changes, but does not own fields that it only repeats', async () => {
    await configMaps.apply('alice', 'owned', { data: { a: '1', b: '2' } })
    const parts = { query: 'fieldManager=bob' }
    const { body } = await configMaps.patch('merge', 'owned', { data: { a: '9', b: '2' } }, parts)
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.b'], 'bob Update': ['.data.a'] })
  })

  it('may contain a resourceVersion as a precondition', async () => {
    const { metadata } = await configMaps.given('pinned')
    const { resourceVersion } = metadata
    const patch = (a: string) => ({ metadata: { resourceVersion }, data: { a } })
    expect((await configMaps.patch('merge', 'pinned', patch('1'))).status).toBe(200)
    expect((await configMaps.patch('merge', 'pinned', patch('2'))).body).toEqual(conflict('configmaps', 'pinned'))
  })

  it('cannot change fields that only the server sets', async () => {
    const { metadata } = await configMaps.given('system')
    const { body } = await configMaps.patch('merge', 'system', {
      metadata: { creationTimestamp: '2020-01-01T00:00:00Z', generation: 7, selfLink: '/x' },
    })
    expect(body.metadata).toEqual(metadata)
  })
})

describe('a merge patch is rejected', () => {
  beforeAll(async () => {
    await configMaps.given('refuses', { data: { a: '1' } })
  })

  it.each<[string, unknown, Json]>([
    [
      'when it is a list',
      [],
      badRequest('error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'),
    ],
    [
      'when it is text',
      '"x"',
      badRequest('error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'),
    ],
    [
      'when it renames the object',
      { metadata: { name: 'other' } },
      badRequest('the name of the object (other) does not match the name on the URL (refuses)'),
    ],
    [
      'when it is sent as plain JSON',
      undefined,
      failure({ code: 415, reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} }),
    ],
  ])('%s', async (_, patch, expected) => {
    const parts = patch === undefined ? { headers: { 'content-type': 'application/json' } } : {}
    const { status, body } = await configMaps.patch('merge', 'refuses', patch ?? {}, parts)
    expect(body).toEqual(expected)
    expect(status).toBe(expected.code)
  })

  it('when there is no object', async () => {
    expect((await configMaps.patch('merge', 'nobody', {})).body).toEqual(notFound('configmaps', 'nobody'))
  })

  it('when the result is invalid', async () => {
    const { status, body } = await configMaps.patch('merge', 'refuses', { data: { 'not a key': '1' } })
    expect(status).toBe(422)
    expect(body.message).toContain('ConfigMap "refuses" is invalid: data[not a key]: Invalid value: "not a key": ')
  })

  it('when the result does not match the kind', async () => {
    const { status, body } = await configMaps.patch('merge', 'refuses', { data: { a: 1 } })
    expect(status).toBe(422)
    expect(body.details.causes).toMatchObject([
      {
        field: 'patch',
        message: expect.stringContaining(
          'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
        ),
      },
    ])
  })
})

describe('a duplicate field in a merge patch', () => {
  const patch = '{"data":{"b":"1","b":"2"}}'

  it('has its last value, with a warning', async () => {
    await configMaps.given('twice')
    const reply = await configMaps.patch('merge', 'twice', patch)
    expect(reply.body.data).toEqual({ b: '2' })
    expect(warningsOf(reply)).toEqual(['duplicate field "data.b"'])
  })

  it('is rejected in strict mode', async () => {
    await configMaps.given('twice-strict')
    const { status, body } = await configMaps.patch('merge', 'twice-strict', patch, { query: 'fieldValidation=Strict' })
    expect(status).toBe(422)
    expect(body.message).toMatch(/: strict decoding error: duplicate field "data\.b"$/)
  })
})
