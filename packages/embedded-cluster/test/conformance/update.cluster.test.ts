/** Replacing objects: versions, generations, optimistic locking, and immutable fields. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments } from './support/objects.ts'
import { badRequest, conflict, failure, invalid, methodNotAllowed, notFound } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const path = (name: string) => `${configMaps(api.namespace)}/${name}`
const immutable = (field: string, value: string) => ({
  field: `metadata.${field}`,
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${value}: field is immutable`,
})

/** A new ConfigMap with `k: 1`. */
function created(metadata: Json = {}): Promise<Json> {
  return api.create(configMaps(api.namespace), configMap(unique('object'), { metadata, data: { k: '1' } }))
}

describe('a replaced object', () => {
  it('has the new content and a higher version', async () => {
    const before = await created()
    const { status, body } = await api.put(path(before.metadata.name), { ...before, data: { k: '2' } })
    expect(status).toBe(200)
    expect(body.data).toEqual({ k: '2' })
    expect(BigInt(body.metadata.resourceVersion)).toBeGreaterThan(BigInt(before.metadata.resourceVersion))
    const { resourceVersion: _, managedFields: __, ...kept } = before.metadata
    expect(body.metadata).toMatchObject(kept)
  })

  it('loses fields that the new content does not have', async () => {
    const { metadata } = await created({ labels: { a: 'b' }, annotations: { c: 'd' } })
    const { body } = await api.put(path(metadata.name), configMap(metadata.name))
    expect(body).not.toHaveProperty('data')
    expect(body.metadata).not.toHaveProperty('labels')
    expect(body.metadata).not.toHaveProperty('annotations')
  })

  it('keeps its version when nothing changes', async () => {
    const before = await created()
    const { status, body } = await api.put(path(before.metadata.name), before)
    expect(status).toBe(200)
    expect(body).toEqual(before)
  })

  it('keeps uid, creation time and generation, even if the client omits them', async () => {
    const before = await created()
    const { body } = await api.put(path(before.metadata.name), configMap(before.metadata.name, { data: { k: '2' } }))
    const { uid, creationTimestamp, namespace } = before.metadata
    expect(body.metadata).toMatchObject({ uid, creationTimestamp, namespace })
  })

  it('ignores creation time and generation from the client', async () => {
    const { metadata } = await created()
    const { status, body } = await api.put(
      path(metadata.name),
      configMap(metadata.name, { metadata: { creationTimestamp: '2020-01-01T00:00:00Z', generation: 99 } }),
    )
    expect(status).toBe(200)
    expect(body.metadata.creationTimestamp).toBe(metadata.creationTimestamp)
    expect(body.metadata).not.toHaveProperty('generation')
  })
})

describe('generation', () => {
  const change = (name: string, patch: Json) => api.patch(`${deployments(api.namespace)}/${name}`, patch)

  it('increases by one when the spec changes', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('counted')))
    expect((await change(metadata.name, { spec: { paused: true } })).body.metadata.generation).toBe(2)
    expect((await change(metadata.name, { spec: { paused: false } })).body.metadata.generation).toBe(3)
  })

  it('stays when only labels or nothing change', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('counted')))
    expect((await change(metadata.name, { metadata: { labels: { a: 'b' } } })).body.metadata.generation).toBe(1)
    expect((await change(metadata.name, { spec: { replicas: 0 } })).body.metadata.generation).toBe(1)
  })

  it('increases when annotations of a Deployment change, for its controller', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('counted')))
    expect((await change(metadata.name, { metadata: { annotations: { a: 'b' } } })).body.metadata.generation).toBe(2)
  })

  it('from the client is ignored', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('counted')))
    const { body } = await change(metadata.name, { metadata: { generation: 40 } })
    expect(body.metadata.generation).toBe(1)
  })
})

describe('optimistic locking', () => {
  it('rejects a write with a version that is not the latest', async () => {
    const before = await created()
    const { name } = before.metadata
    await api.put(path(name), { ...before, data: { k: '2' } })
    const { status, body } = await api.put(path(name), { ...before, data: { k: '3' } })
    expect(status).toBe(409)
    expect(body).toEqual(conflict('configmaps', name))
    expect((await api.get(path(name))).body.data).toEqual({ k: '2' })
  })

  it('accepts exactly one of several writers with the same version', async () => {
    const before = await created()
    const writers = Array.from({ length: 8 }, (_, index) =>
      api.put(path(before.metadata.name), { ...before, data: { k: `writer-${index}` } }),
    )
    const statuses = (await Promise.all(writers)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 409)])
  })

  it.each([
    ['no version', {}],
    ['version 0', { resourceVersion: '0' }],
  ])('is skipped with %s', async (_, version) => {
    const { metadata } = await created()
    const { status, body } = await api.put(
      path(metadata.name),
      configMap(metadata.name, { metadata: version, data: { k: '2' } }),
    )
    expect(status).toBe(200)
    expect(body.data).toEqual({ k: '2' })
  })

  it('also applies to a patch with a version', async () => {
    const before = await created()
    const { name, resourceVersion } = before.metadata
    await api.patch(path(name), { data: { k: '2' } })
    const { status, body } = await api.patch(path(name), { metadata: { resourceVersion }, data: { k: '3' } })
    expect(status).toBe(409)
    expect(body).toEqual(conflict('configmaps', name))
  })

  it('accepts all of several patches without a version', async () => {
    const { metadata } = await created()
    const patches = Array.from({ length: 8 }, (_, index) =>
      api.patch(path(metadata.name), { data: { [`k${index}`]: 'v' } }),
    )
    expect((await Promise.all(patches)).map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(Object.keys((await api.get(path(metadata.name))).body.data)).toHaveLength(9)
  })

  it('rejects a uid of another object', async () => {
    const before = await created()
    const { name, uid } = before.metadata
    const { status, body } = await api.put(path(name), configMap(name, { metadata: { uid: 'other' } }))
    expect(status).toBe(409)
    expect(body).toEqual(
      failure({
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on configmaps "${name}": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${api.namespace}/${name}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
        details: { name, kind: 'configmaps' },
      }),
    )
  })

  it('rejects a version that is not a number', async () => {
    const { metadata } = await created()
    const { status, body } = await api.put(
      path(metadata.name),
      configMap(metadata.name, { metadata: { resourceVersion: 'abc' }, data: { k: '3' } }),
    )
    expect(status).toBe(500)
    expect(body).toEqual(failure({ code: 500, message: 'strconv.ParseUint: parsing "abc": invalid syntax' }))
  })
})

describe('a replacement is rejected', () => {
  it('when the object does not exist', async () => {
    const { status, body } = await api.put(path('nothing'), configMap('nothing'))
    expect(status).toBe(404)
    expect(body).toEqual(notFound('configmaps', 'nothing'))
  })

  it.each<[string, Json, string]>([
    ['another name', configMap('b'), 'the name of the object (b) does not match the name on the URL (a)'],
    ['no name', { metadata: {} }, 'the name of the object (a based on URL) was undeterminable: name must be provided'],
    [
      'another namespace',
      configMap('a', { metadata: { namespace: 'other' } }),
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } },
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ],
  ])('when the body has %s', async (_, object, message) => {
    const { status, body } = await api.put(path('a'), object)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest(message))
  })

  it('when it would start a deletion', async () => {
    const { metadata } = await created()
    const { status, body } = await api.put(
      path(metadata.name),
      configMap(metadata.name, {
        metadata: { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
      }),
    )
    expect(status).toBe(422)
    expect(body.message).toBe(
      `ConfigMap "${metadata.name}" is invalid: [metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable, metadata.deletionGracePeriodSeconds: Invalid value: 0: field is immutable]`,
    )
    expect(body.details.causes).toEqual(
      expect.arrayContaining([
        immutable('deletionTimestamp', '"2020-01-01T00:00:00Z"'),
        immutable('deletionGracePeriodSeconds', '0'),
      ]),
    )
  })

  it('when it changes the selector of a workload', async () => {
    const name = unique('fixed')
    const object = await api.create(deployments(api.namespace), deployment(name))
    const labels = { app: name, more: 'x' }
    const { status, body } = await api.put(`${deployments(api.namespace)}/${name}`, {
      ...object,
      spec: {
        ...object.spec,
        selector: { matchLabels: labels },
        template: { ...object.spec.template, metadata: { labels } },
      },
      metadata: { name },
    })
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('Deployment.apps', name, {
        field: 'spec.selector',
        reason: 'FieldValueInvalid',
        message: `Invalid value: {"matchLabels":${JSON.stringify(labels)}}: field is immutable`,
      }),
    )
  })

  it.each([
    ['ConfigMap', 'configmaps'],
    ['Secret', 'secrets'],
  ])('when it changes a %s that is immutable', async (kind, resource) => {
    const name = unique('frozen')
    const collection = `/api/v1/namespaces/${api.namespace}/${resource}`
    await api.create(collection, { metadata: { name }, immutable: true, data: { k: 'MQ==' } })
    const { status, body } = await api.patch(`${collection}/${name}`, { data: { k: 'Mg==' } })
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid(kind, name, {
        field: 'data',
        reason: 'FieldValueForbidden',
        message: 'Forbidden: field is immutable when `immutable` is set',
      }),
    )
  })

  it('when the path is that of a collection', async () => {
    const { status, body } = await api.put(configMaps(api.namespace), configMap('a'))
    expect(status).toBe(405)
    expect(body).toEqual(methodNotAllowed)
  })
})
