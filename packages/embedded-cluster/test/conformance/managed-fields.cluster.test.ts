/** managedFields: what every kind of write records, and how clients may change them. */
import { describe, expect, it } from 'vitest'
import { resourceOf } from './support/api-resource.ts'
import { applyConflict } from './support/apply-conflict.ts'
import { ConformanceApi, type Json } from './support/conformance-api.ts'
import { ownersOf } from './support/owned-fields.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
const replicaSets = resourceOf(api, 'apps/v1', 'ReplicaSet', 'replicasets')

const by = (manager: string) => ({ query: `fieldManager=${manager}` })

describe('a write other than apply', () => {
  it('makes the creator of an object the owner of its fields', async () => {
    const body = await configMaps.given('created', { metadata: { labels: { x: 'y' } }, data: { a: '1' } }, by('alice'))
    expect(body.metadata.managedFields).toEqual([
      {
        manager: 'alice',
        operation: 'Update',
        apiVersion: 'v1',
        time: body.metadata.creationTimestamp,
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:data': { '.': {}, 'f:a': {} },
          'f:metadata': { 'f:labels': { '.': {}, 'f:x': {} } },
        },
      },
    ])
  })

  it.each<[string, string, string]>([
    ['the part of the user agent before the slash', 'kubectl/v1.35.0 (linux/amd64)', 'kubectl'],
    ['the whole user agent when there is no slash', 'some agent', 'some agent'],
  ])('names its manager after %s', async (_, agent, manager) => {
    const parts = { query: 'dryRun=All', headers: { 'user-agent': agent } }
    const { body } = await configMaps.create('agent', { data: { a: '1' } }, parts)
    expect(Object.keys(ownersOf(body))).toEqual([`${manager} Update`])
  })

  it('transfers replaced fields to the manager that replaces them', async () => {
    const created = await configMaps.given('replaced', { data: { a: '1', b: '2' } }, by('alice'))
    const { body } = await configMaps.replace('replaced', { ...created, data: { a: '1', b: '9', c: '3' } }, by('bob'))
    expect(ownersOf(body)).toEqual({ 'alice Update': ['.data', '.data.a'], 'bob Update': ['.data.b', '.data.c'] })
  })

  it('removes the ownership of fields that it removes', async () => {
    await configMaps.given('removed', { data: { a: '1', b: '2' } }, by('alice'))
    const { body } = await configMaps.patch('merge', 'removed', { data: { a: null } }, by('bob'))
    expect(ownersOf(body)).toEqual({ 'alice Update': ['.data', '.data.b'] })
  })

  it('drops managers without fields', async () => {
    await configMaps.given('overwritten', { data: { a: '1' } }, by('alice'))
    const { body } = await configMaps.patch('merge', 'overwritten', { data: null }, by('bob'))
    expect(body.metadata.managedFields).toBeUndefined()
  })

  it('keeps managedFields when it omits them', async () => {
    await configMaps.apply('alice', 'left-out', { data: { a: '1' } })
    const { body } = await configMaps.replace(
      'left-out',
      configMaps.object('left-out', { data: { a: '1' } }),
      by('bob'),
    )
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.a'] })
  })

  it('folds the oldest managers into one if there are more than ten', async () => {
    await configMaps.given('crowd', { data: { k0: 'x' } }, by('manager-0'))
    for (let index = 1; index < 12; index += 1) {
      await configMaps.patch('merge', 'crowd', { data: { [`k${index}`]: 'x' } }, by(`manager-${index}`))
    }
    const owners = ownersOf((await configMaps.get('crowd')).body)
    expect(Object.keys(owners)).toHaveLength(10)
    expect(owners['ancient-changes Update']?.length).toBeGreaterThan(1)
    expect(Object.values(owners).flat().sort()).toEqual(
      ['.data', ...Array.from({ length: 12 }, (_, index) => `.data.k${index}`)].sort(),
    )
  })
})

describe('managedFields', () => {
  it.each<[string, string, Json]>([
    ['an empty list', 'reset-empty', []],
    ['a list of one empty entry', 'reset-entry', [{}]],
  ])('are reset by %s', async (_, name, managedFields) => {
    await configMaps.apply('alice', name, { data: { a: '1' } })
    const { body } = await configMaps.patch('merge', name, { metadata: { managedFields } })
    expect(body.metadata.managedFields).toBeUndefined()
  })

  it('are not recorded again by an update', async () => {
    await configMaps.apply('alice', 'stays-reset', { data: { a: '1' } })
    await configMaps.patch('merge', 'stays-reset', { metadata: { managedFields: [{}] } })
    const { body } = await configMaps.patch('merge', 'stays-reset', { data: { b: '2' } }, by('bob'))
    expect(body.data).toEqual({ a: '1', b: '2' })
    expect(body.metadata.managedFields).toBeUndefined()
  })

  it('are recorded again by an apply, with before-first-apply as the owner of existing fields', async () => {
    await configMaps.apply('alice', 'again', { data: { a: '1' } })
    await configMaps.patch('merge', 'again', { metadata: { managedFields: [{}] } })
    const rejected = await configMaps.apply('bob', 'again', { data: { a: '2' } })
    expect(rejected.body).toEqual(applyConflict(['"before-first-apply" using v1', '.data.a']))
    const { body } = await configMaps.apply('bob', 'again', { data: { b: '2' } })
    expect(ownersOf(body)).toEqual({
      'bob Apply': ['.data.b'],
      'before-first-apply Update': ['.data', '.data.a'],
    })
  })

  it('may be edited, so that a manager can change from Update to Apply', async () => {
    await configMaps.given('migrated', { data: { a: '1', b: '2' } }, by('alice'))
    const { body } = await configMaps.patch('json', 'migrated', [
      { op: 'test', path: '/metadata/managedFields/0/manager', value: 'alice' },
      { op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Apply' },
    ])
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data', '.data.a', '.data.b'] })
    const applied = await configMaps.apply('alice', 'migrated', { data: { a: '1' } })
    expect(applied.body.data).toEqual({ a: '1' })
  })

  it('may be transferred to another manager', async () => {
    await configMaps.apply('alice', 'handed-over', { data: { a: '1' } })
    await configMaps.patch('json', 'handed-over', [
      { op: 'replace', path: '/metadata/managedFields/0/manager', value: 'bob' },
    ])
    const { body } = await configMaps.apply('bob', 'handed-over', { data: { b: '2' } })
    expect(body.data).toEqual({ b: '2' })
  })

  it('in a new object are replaced by those of its creator', async () => {
    const managedFields = [
      {
        manager: 'alice',
        operation: 'Apply',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
    ]
    const body = await configMaps.given('brought', { metadata: { managedFields }, data: { a: '1' } }, by('bob'))
    expect(ownersOf(body)).toEqual({ 'bob Update': ['.data', '.data.a'] })
  })

  it.each<[string, Json]>([
    ['an unknown operation', { operation: 'Steal' }],
    ['no version', { apiVersion: undefined }],
    ['an unknown type of fields', { fieldsType: 'FieldsV9' }],
  ])('with %s are ignored in favour of the stored ones', async (problem, wrong) => {
    const name = problem.replaceAll(' ', '-')
    await configMaps.apply('alice', name, { data: { a: '1' } })
    const entry = { manager: 'x', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {}, ...wrong }
    const { body } = await configMaps.patch('merge', name, { metadata: { managedFields: [entry] } })
    expect(ownersOf(body)).toEqual({ 'alice Apply': ['.data.a'] })
  })
})

describe('an object that kubectl applied on the client', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const applied = (name: string, data: Json) => JSON.stringify(configMaps.object(name, { data }))

  it('can be applied by kubectl without a conflict, and the annotation is updated', async () => {
    const metadata = { annotations: { [annotation]: applied('upgraded', { a: '1' }) } }
    await configMaps.given('upgraded', { metadata, data: { a: '1' } }, by('kubectl-client-side-apply'))
    const { status, body } = await configMaps.apply('kubectl', 'upgraded', { data: { a: '2' } })
    expect(status).toBe(200)
    expect(body.metadata.annotations[annotation]).toBe(
      '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"upgraded"}}\n',
    )
  })

  it('conflicts with any other manager', async () => {
    const metadata = { annotations: { [annotation]: applied('kept', { a: '1' }) } }
    await configMaps.given('kept', { metadata, data: { a: '1' } }, by('kubectl-client-side-apply'))
    const { body } = await configMaps.apply('alice', 'kept', { data: { a: '2' } })
    expect(body).toEqual(applyConflict(['"kubectl-client-side-apply" using v1', '.data.a']))
  })
})

describe('the number of replicas', () => {
  const spec = (name: string, replicas: number) => ({
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
  })
  const scaleOf = (name: string, replicas: number) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name },
    spec: { replicas },
  })
  const ownerOf = async (name: string) => {
    const { body } = await replicaSets.get(name)
    return Object.entries(ownersOf(body))
      .filter(([, paths]) => paths.includes('.spec.replicas'))
      .map(([owner]) => owner)
  }

  it('is owned by the manager that scales', async () => {
    await replicaSets.given('scaled', { spec: spec('scaled', 0) }, by('alice'))
    await replicaSets.patch('merge', 'scaled', { spec: { replicas: 1 } }, { ...by('autoscaler'), subresource: 'scale' })
    expect(await ownerOf('scaled')).toEqual(['autoscaler Update scale'])
  })

  it('conflicts with a manager that applies another number', async () => {
    await replicaSets.apply('alice', 'contested', { spec: spec('contested', 0) })
    await replicaSets.replace('contested', scaleOf('contested', 1), { ...by('autoscaler'), subresource: 'scale' })
    const { body } = await replicaSets.apply('alice', 'contested', { spec: spec('contested', 0) })
    expect(body).toEqual(applyConflict(['"autoscaler" with subresource "scale" using apps/v1', '.spec.replicas']))
  })

  it('may be applied separately, with the same conflicts', async () => {
    await replicaSets.apply('alice', 'applied', { spec: spec('applied', 0) })
    const scale = (query: string) =>
      replicaSets.patch('apply', 'applied', scaleOf('applied', 1), { query, subresource: 'scale' })
    expect((await scale('fieldManager=autoscaler')).body).toEqual(applyConflict(['"alice"', '.spec.replicas']))
    expect((await scale('fieldManager=autoscaler&force=true')).body.spec).toEqual({ replicas: 1 })
    expect(await ownerOf('applied')).toEqual(['autoscaler Apply scale'])
  })

  it('is not changed by an apply without it', async () => {
    const { replicas: _, ...withoutReplicas } = spec('silent', 0)
    await replicaSets.apply('alice', 'silent', { spec: withoutReplicas })
    await replicaSets.patch('merge', 'silent', { spec: { replicas: 0 } }, { ...by('autoscaler'), subresource: 'scale' })
    const { body } = await replicaSets.apply('alice', 'silent', { spec: withoutReplicas })
    expect(body.spec.replicas).toBe(0)
  })
})
