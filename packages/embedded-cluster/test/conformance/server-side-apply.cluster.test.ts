/** Server-side apply: merging configurations of several managers, and conflicts between them. */
import { describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { applyConflict } from './support/apply-conflict.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { ownersOf } from './support/owned-fields.ts'
import { badRequest, conflict, failure, invalid, notFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
const services = resourceOf(api, 'v1', 'Service', 'services')
const templates = resourceOf(api, 'v1', 'PodTemplate', 'podtemplates')

describe('an apply', () => {
  it('creates the object and makes its manager the owner of the applied fields', async () => {
    const { status, body } = await configMaps.apply('alice', 'new', {
      metadata: { labels: { app: 'x' } },
      data: { a: '1' },
    })
    expect(status).toBe(201)
    expect(body.data).toEqual({ a: '1' })
    expect(body.metadata.managedFields).toEqual([
      {
        manager: 'alice',
        operation: 'Apply',
        apiVersion: 'v1',
        time: body.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:app': {} } } },
      },
    ])
  })

  it('that is repeated changes nothing, not even the resourceVersion', async () => {
    const first = await configMaps.apply('alice', 'repeated', { data: { a: '1' } })
    const second = await configMaps.apply('alice', 'repeated', { data: { a: '1' } })
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  it('removes fields that its manager no longer applies', async () => {
    await configMaps.apply('alice', 'removes', { data: { a: '1', b: '2' } })
    const { body } = await configMaps.apply('alice', 'removes', { data: { b: '2' } })
    expect(body.data).toEqual({ b: '2' })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.b'] })
  })

  it('keeps fields of other managers', async () => {
    await configMaps.apply('alice', 'leaves', { data: { a: '1' } })
    await configMaps.apply('bob', 'leaves', { data: { b: '2' } })
    const { body } = await configMaps.apply('alice', 'leaves')
    expect(body.data).toEqual({ b: '2' })
    expect(ownersOf(body)).toEqual({ 'bob Apply': ['.data.b'] })
  })

  it('shares fields with equal values, which are removed with their last owner', async () => {
    await configMaps.apply('alice', 'shared', { data: { a: '1' } })
    const shared = await configMaps.apply('bob', 'shared', { data: { a: '1' } })
    expect(ownersOf(shared.body)).toEqual({ 'alice Apply': ['.data.a'], 'bob Apply': ['.data.a'] })
    expect((await configMaps.apply('alice', 'shared')).body.data).toEqual({ a: '1' })
    expect((await configMaps.apply('bob', 'shared')).body.data).toBeUndefined()
  })

  it('supports YAML', async () => {
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  text: |\n    one\n    two\n`
    const { status, body } = await configMaps.patch('apply', 'yaml', text, { query: 'fieldManager=alice' })
    expect(status).toBe(201)
    expect(body.data).toEqual({ text: 'one\ntwo\n' })
  })

  it('as a dry run stores nothing', async () => {
    const { status, body } = await configMaps.apply('alice', 'dry', { data: { a: '1' } }, { query: 'dryRun=All' })
    expect(status).toBe(201)
    expect(body.data).toEqual({ a: '1' })
    expect(body.metadata.resourceVersion).toBeUndefined()
    expect((await configMaps.get('dry')).status).toBe(404)
  })

  it('treats null as an absent field', async () => {
    const { body } = await configMaps.apply('alice', 'nulls', { metadata: { creationTimestamp: null }, data: null })
    expect(body.data).toBeUndefined()
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data'] })
  })
})

describe('managers with different values', () => {
  it('get a conflict for each field', async () => {
    await configMaps.apply('alice', 'conflict', { data: { a: '1', b: '2' } })
    const { status, body } = await configMaps.apply('bob', 'conflict', { data: { a: '9', b: '8' } })
    expect(status).toBe(409)
    expect(body).toEqual(applyConflict(['"alice"', '.data.a'], ['"alice"', '.data.b']))
    expect((await configMaps.get('conflict')).body.data).toEqual({ a: '1', b: '2' })
  })

  it('get a conflict for every other manager', async () => {
    await configMaps.apply('alice', 'conflicts', { data: { a: '1' } })
    await configMaps.apply('bob', 'conflicts', { data: { b: '2' } })
    const { body } = await configMaps.apply('carol', 'conflicts', { data: { a: '9', b: '8' } })
    // The real server lists several managers in any order.
    body.details.causes.sort((left: Json, right: Json) => (left.field < right.field ? -1 : 1))
    expect(body).toEqual(applyConflict(['"alice"', '.data.a'], ['"bob"', '.data.b']))
  })

  it('get no conflict for fields with equal values', async () => {
    await configMaps.apply('alice', 'one-of-two', { data: { a: '1', b: '2' } })
    const { body } = await configMaps.apply('bob', 'one-of-two', { data: { a: '1', b: '8' } })
    expect(body).toEqual(applyConflict(['"alice"', '.data.b']))
  })

  it('may take over fields with force', async () => {
    await configMaps.apply('alice', 'forced', { data: { a: '1', b: '2' } })
    const { status, body } = await configMaps.apply('bob', 'forced', { data: { a: '9' } }, { query: 'force=true' })
    expect(status).toBe(200)
    expect(body.data).toEqual({ a: '9', b: '2' })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.b'], 'bob Apply': ['.data.a'] })
  })

  it('lose a shared field to the one that changes it with force', async () => {
    await configMaps.apply('alice', 'forced-shared', { data: { a: '1' } })
    await configMaps.apply('bob', 'forced-shared', { data: { a: '1' } })
    const { body } = await configMaps.apply('bob', 'forced-shared', { data: { a: '2' } }, { query: 'force=true' })
    expect(ownersOf(body)).toEqual({ 'bob Apply': ['.data.a'] })
  })

  it('get no conflict when one applies an empty map where the other has entries', async () => {
    await configMaps.apply('alice', 'empty-map', { metadata: { labels: { x: 'y' } } })
    const { body } = await configMaps.apply('bob', 'empty-map', { metadata: { labels: {} } })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.metadata.labels.x'], 'bob Apply': ['.metadata.labels'] })
  })

  it('get a conflict for an empty map, which is stored as absent', async () => {
    await configMaps.apply('alice', 'empty-maps', { metadata: { labels: {} } })
    const { body } = await configMaps.apply('bob', 'empty-maps', { metadata: { labels: {} } })
    expect(body).toEqual(applyConflict(['"alice"', '.metadata.labels']))
  })
})

describe('an apply to an object that was written in another way', () => {
  it('shares the fields it repeats with their manager', async () => {
    await configMaps.given('created', { data: { a: '1', b: '2' } }, { query: 'fieldManager=creator' })
    const { body } = await configMaps.apply('alice', 'created', { data: { a: '1' } })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.a'], 'creator Update': ['.data', '.data.a', '.data.b'] })
  })

  it('conflicts with the manager of a field it would change', async () => {
    await configMaps.given('created-conflict', { data: { a: '1' } }, { query: 'fieldManager=creator' })
    const { body } = await configMaps.apply('alice', 'created-conflict', { data: { a: '2' } })
    expect(body).toEqual(applyConflict(['"creator" using v1', '.data.a']))
  })

  it('does not remove what its manager wrote in another way', async () => {
    await configMaps.given('created-self', { data: { a: '1', b: '2' } }, { query: 'fieldManager=alice' })
    await configMaps.apply('alice', 'created-self', { data: { a: '1' } })
    const { body } = await configMaps.apply('alice', 'created-self')
    expect(body.data).toEqual({ a: '1', b: '2' })
    expect(ownersOf(body)).toEqual({ 'alice Update': ['.data', '.data.a', '.data.b'] })
  })

  it('loses a field that another manager updates, and conflicts when it is repeated', async () => {
    await configMaps.apply('alice', 'updated', { data: { a: '1' } })
    const patched = await configMaps.patch('merge', 'updated', { data: { a: '2' } }, { query: 'fieldManager=bob' })
    expect(ownersOf(patched.body)).toEqual({ 'bob Update': ['.data.a'] })
    const { body } = await configMaps.apply('alice', 'updated', { data: { a: '1' } })
    expect(body).toEqual(applyConflict(['"bob" using v1', '.data.a']))
  })
})

describe('lists', () => {
  it('of objects are merged by their keys, with schema defaults for missing keys', async () => {
    const port = (name: string, number: number) => ({ name, port: number })
    await services.apply('alice', 'ports', { spec: { ports: [port('http', 80)] } })
    const { body } = await services.apply('bob', 'ports', { spec: { ports: [port('https', 443)] } })
    expect(body.spec.ports).toMatchObject([
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'https', port: 443, protocol: 'TCP' },
    ])
    expect(ownersOf(body)).toEqual({
      'alice Apply': [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.ports[port=80,protocol="TCP"].port',
      ],
      'bob Apply': [
        '.spec.ports[port=443,protocol="TCP"]',
        '.spec.ports[port=443,protocol="TCP"].name',
        '.spec.ports[port=443,protocol="TCP"].port',
      ],
    })
  })

  it('lose the item whose only owner no longer applies it', async () => {
    await services.apply('alice', 'port-gone', { spec: { ports: [{ name: 'http', port: 80 }] } })
    await services.apply('bob', 'port-gone', { spec: { ports: [{ name: 'https', port: 443 }] } })
    const { body } = await services.apply('bob', 'port-gone')
    expect(body.spec.ports).toMatchObject([{ name: 'http' }])
  })

  it('reject two items with the same keys', async () => {
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 80, protocol: 'TCP' },
    ]
    const { body } = await services.apply('alice', 'port-twice', { spec: { ports } })
    expect(body).toEqual(
      failure({
        code: 500,
        message:
          'failed to create typed patch object (/port-twice; /v1, Kind=Service): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
      }),
    )
  })

  it('of scalars are sets, each value with its owners', async () => {
    await configMaps.apply('alice', 'set', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } })
    const both = await configMaps.apply('bob', 'set', { metadata: { finalizers: ['example.com/b', 'example.com/c'] } })
    expect(both.body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b', 'example.com/c'])
    const { body } = await configMaps.apply('alice', 'set', { metadata: { finalizers: ['example.com/a'] } })
    expect(body.metadata.finalizers).toEqual(['example.com/a', 'example.com/b', 'example.com/c'])
    expect(ownersOf(body)).toEqual({
      'alice Apply': ['.metadata.finalizers[="example.com/a"]'],
      'bob Apply': ['.metadata.finalizers[="example.com/b"]', '.metadata.finalizers[="example.com/c"]'],
    })
    await configMaps.patch('merge', 'set', { metadata: { finalizers: null } })
  })

  it('inside items are merged too', async () => {
    const container = (fields: Json) => ({ template: { spec: { containers: [{ name: 'web', ...fields }] } } })
    await templates.apply('alice', 'nested', container({ image: 'web:1', env: [{ name: 'A', value: '1' }] }))
    const { body } = await templates.apply('bob', 'nested', container({ env: [{ name: 'B', value: '2' }] }))
    expect(body.template.spec.containers[0].env).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ])
    const web = '.template.spec.containers[name="web"]'
    expect(ownersOf(body)['bob Apply']).toEqual([
      web,
      `${web}.env[name="B"]`,
      `${web}.env[name="B"].name`,
      `${web}.env[name="B"].value`,
      `${web}.name`,
    ])
  })

  it('that are atomic have one owner as a whole', async () => {
    const container = (fields: Json) => ({ template: { spec: { containers: [{ name: 'web', ...fields }] } } })
    await templates.apply('alice', 'atomic-list', container({ image: 'web:1', args: ['a'] }))
    const { body } = await templates.apply('bob', 'atomic-list', container({ args: ['a', 'b'] }))
    expect(body).toEqual(applyConflict(['"alice"', '.template.spec.containers[name="web"].args']))
  })

  it('are atomic like some maps: a selector cannot be merged', async () => {
    const spec = { ports: [{ port: 80 }], selector: { app: 'x' } }
    await services.apply('alice', 'atomic-map', { spec })
    const { body } = await services.apply('bob', 'atomic-map', { spec: { selector: { tier: 'y' } } })
    expect(body).toEqual(applyConflict(['"alice"', '.spec.selector']))
  })
})

describe('fields that the server sets', () => {
  it('have no owner until a manager applies them', async () => {
    await services.apply('alice', 'defaults', { spec: { ports: [{ port: 80 }] } })
    const { body } = await services.apply('bob', 'defaults', { spec: { sessionAffinity: 'ClientIP' } })
    expect(body.spec.sessionAffinity).toBe('ClientIP')
    expect(ownersOf(body)['bob Apply']).toEqual(['.spec.sessionAffinity'])
  })

  it('are set again when their owner no longer applies them', async () => {
    await services.apply('alice', 'default-again', { spec: { ports: [{ port: 80 }], sessionAffinity: 'ClientIP' } })
    const { body } = await services.apply('alice', 'default-again', { spec: { ports: [{ port: 80 }] } })
    expect(body.spec.sessionAffinity).toBe('None')
  })

  it('treat an equal quantity as no change', async () => {
    const limits = (cpu: string) => ({
      template: { spec: { containers: [{ name: 'web', image: 'web:1', resources: { limits: { cpu } } }] } },
    })
    const first = await templates.apply('alice', 'quantity', limits('1000m'))
    expect(first.body.template.spec.containers[0].resources).toEqual({ limits: { cpu: '1' } })
    expect((await templates.apply('bob', 'quantity', limits('1'))).status).toBe(200)
  })
})

describe('an apply is rejected', () => {
  it('without a manager', async () => {
    const { body } = await configMaps.patch('apply', 'nobody', configMaps.object('nobody'))
    expect(body).toEqual(
      invalid('PatchOptions.meta.k8s.io', '', {
        field: 'fieldManager',
        reason: 'FieldValueRequired',
        message: 'Required value: is required for apply patch',
      }),
    )
  })

  it.each<[string, Json, Json]>([
    [
      'without a kind',
      { apiVersion: 'v1', metadata: { name: 'wrong' } },
      badRequest('invalid object type: /v1, Kind='),
    ],
    [
      'without a version',
      { kind: 'ConfigMap', metadata: { name: 'wrong' } },
      badRequest('invalid object type: /, Kind=ConfigMap'),
    ],
    [
      'with another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'wrong' } },
      badRequest('invalid object type: /v1, Kind=Secret'),
    ],
    [
      'with another version',
      { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'wrong' } },
      badRequest('invalid object type: /v2, Kind=ConfigMap'),
    ],
    [
      'with another name',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
      badRequest('the name of the object (other) does not match the name on the URL (wrong)'),
    ],
    [
      'with another namespace',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wrong', namespace: 'other' } },
      badRequest('the namespace of the provided object does not match the namespace sent on the request'),
    ],
    [
      'with managedFields',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wrong', managedFields: [{ manager: 'x' }] } },
      badRequest('metadata.managedFields must be nil'),
    ],
    [
      'with an unknown field',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wrong' }, spec: {} },
      failure({
        code: 500,
        message:
          'failed to create typed patch object (/wrong; /v1, Kind=ConfigMap): .spec: field not declared in schema',
      }),
    ],
    [
      'with a value of the wrong type',
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wrong' }, data: { a: 1 } },
      failure({
        code: 500,
        message:
          'failed to create typed patch object (/wrong; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:1}',
      }),
    ],
    [
      'that is a list',
      [],
      badRequest(
        'error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}',
      ),
    ],
    ['that is empty', '', badRequest('invalid object type: /, Kind=')],
  ])('%s', async (_, body, expected) => {
    const reply = await configMaps.patch('apply', 'wrong', body, { query: 'fieldManager=alice' })
    expect(reply.body).toEqual(expected)
    expect(reply.status).toBe(expected.code)
  })

  it('with a stale resourceVersion', async () => {
    await configMaps.apply('alice', 'stale', { data: { a: '1' } })
    const { body } = await configMaps.apply('alice', 'stale', { metadata: { resourceVersion: '1' }, data: { a: '2' } })
    expect(body).toEqual(conflict('configmaps', 'stale'))
  })

  it('with a uid when the object does not exist', async () => {
    const { body } = await configMaps.apply('alice', 'no-uid', { metadata: { uid: '123' } })
    expect(body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        'Operation cannot be fulfilled on configmaps "no-uid": uid mismatch: the provided object specified uid 123, and no existing object was found',
    })
  })

  it('when the result is invalid', async () => {
    const { status, body } = await configMaps.apply('alice', 'invalid', { data: { 'not a key': '1' } })
    expect(status).toBe(422)
    expect(body.reason).toBe('Invalid')
  })

  it('in a namespace that does not exist', async () => {
    const elsewhere = configMaps.at({ namespace: () => 'no-such-namespace' })
    expect((await elsewhere.apply('alice', 'x')).body).toEqual(notFound('namespaces', 'no-such-namespace'))
  })
})

describe('an apply with a resourceVersion', () => {
  it('of the object succeeds', async () => {
    const { body } = await configMaps.apply('alice', 'version', { data: { a: '1' } })
    const { resourceVersion } = body.metadata
    const applied = await configMaps.apply('alice', 'version', { metadata: { resourceVersion }, data: { a: '2' } })
    expect(applied.body.data).toEqual({ a: '2' })
  })

  it('creates a missing object nevertheless', async () => {
    const { status } = await configMaps.apply('alice', 'version-new', { metadata: { resourceVersion: '1' } })
    expect(status).toBe(201)
  })
})
