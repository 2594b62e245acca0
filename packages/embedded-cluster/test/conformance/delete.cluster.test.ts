/** Deleting objects: responses, preconditions, finalizers, propagation, grace period, collections. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, normalised, pod, pods } from './support/objects.ts'
import { badRequest, failure, invalid, methodNotAllowed, notFound } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const path = (name: string) => `${configMaps(api.namespace)}/${name}`

function created(metadata: Json = {}): Promise<Json> {
  return api.create(configMaps(api.namespace), configMap(unique('object'), { metadata }))
}

async function isGone(of: string): Promise<boolean> {
  return (await api.get(of)).status === 404
}

describe('a deleted object', () => {
  it('does not exist anymore, and the response identifies it', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name))
    expect(status).toBe(200)
    expect(body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { name: metadata.name, kind: 'configmaps', uid: metadata.uid },
    })
    expect(await isGone(path(metadata.name))).toBe(true)
  })

  it('is identified with its group', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('gone')))
    const { body } = await api.delete(`${deployments(api.namespace)}/${metadata.name}`)
    expect(body.details).toEqual({ name: metadata.name, group: 'apps', kind: 'deployments', uid: metadata.uid })
  })

  it.each<[string, string, Json]>([
    ['Service', 'services', { spec: { ports: [{ port: 80 }] } }],
    ['ServiceAccount', 'serviceaccounts', {}],
    ['PodTemplate', 'podtemplates', { template: { spec: pod('').spec } }],
    ['ResourceQuota', 'resourcequotas', {}],
  ])('is itself the response if it is a %s', async (kind, resource, rest) => {
    const collection = `/api/v1/namespaces/${api.namespace}/${resource}`
    const { metadata } = await api.create(collection, { metadata: { name: unique('whole') }, ...rest })
    const { status, body } = await api.delete(`${collection}/${metadata.name}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind, metadata: { name: metadata.name, uid: metadata.uid } })
    expect(body.metadata).not.toHaveProperty('deletionTimestamp')
  })

  it('can be created again with the same name and another uid', async () => {
    const { metadata } = await created()
    await api.delete(path(metadata.name))
    const again = await api.create(configMaps(api.namespace), configMap(metadata.name))
    expect(again.metadata.uid).not.toBe(metadata.uid)
  })

  it('cannot be deleted twice', async () => {
    const { metadata } = await created()
    await api.delete(path(metadata.name))
    const { status, body } = await api.delete(path(metadata.name))
    expect(status).toBe(404)
    expect(body).toEqual(notFound('configmaps', metadata.name))
  })
})

describe('finalizers', () => {
  it('keep a deleted object, marked with the time of deletion', async () => {
    const { metadata } = await created({ finalizers: ['example.com/hold'] })
    const { status, body } = await api.delete(path(metadata.name))
    expect(status).toBe(200)
    expect(normalised(body).metadata).toMatchObject({
      name: metadata.name,
      uid: '<uid>',
      deletionTimestamp: '<deletionTimestamp>',
      deletionGracePeriodSeconds: 0,
      finalizers: ['example.com/hold'],
    })
    expect(body.metadata.resourceVersion).not.toBe(metadata.resourceVersion)
    expect((await api.get(path(metadata.name))).body).toEqual(body)
  })

  it('keep it unchanged when it is deleted again', async () => {
    const { metadata } = await created({ finalizers: ['example.com/hold'] })
    const first = await api.delete(path(metadata.name))
    const second = await api.delete(path(metadata.name))
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  it('delete it when the last of them is removed', async () => {
    const { metadata } = await created({ finalizers: ['example.com/one', 'example.com/two'] })
    await api.delete(path(metadata.name))
    await api.patch(path(metadata.name), { metadata: { finalizers: ['example.com/two'] } })
    expect(await isGone(path(metadata.name))).toBe(false)
    const last = await api.patch(path(metadata.name), { metadata: { finalizers: null } })
    expect(last.status).toBe(200)
    expect(last.body.metadata).not.toHaveProperty('finalizers')
    expect(await isGone(path(metadata.name))).toBe(true)
  })

  it('cannot be added to an object that is being deleted', async () => {
    const { metadata } = await created({ finalizers: ['example.com/hold'] })
    await api.delete(path(metadata.name))
    const { status, body } = await api.patch(path(metadata.name), {
      metadata: { finalizers: ['example.com/hold', 'example.com/late'] },
    })
    expect(status).toBe(422)
    const message =
      'Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}'
    expect(body.message).toBe(`ConfigMap "${metadata.name}" is invalid: metadata.finalizers: ${message}`)
    expect(body.details.causes).toContainEqual({ field: 'metadata.finalizers', reason: 'FieldValueForbidden', message })
  })

  it('do not prevent other changes', async () => {
    const { metadata } = await created({ finalizers: ['example.com/hold'] })
    await api.delete(path(metadata.name))
    const { status, body } = await api.patch(path(metadata.name), { data: { k: 'v' } })
    expect(status).toBe(200)
    expect(body.data).toEqual({ k: 'v' })
  })

  it('make deletion final: the time of deletion cannot be removed', async () => {
    const { metadata } = await created({ finalizers: ['example.com/hold'] })
    const { body } = await api.delete(path(metadata.name))
    const after = await api.patch(path(metadata.name), { metadata: { deletionTimestamp: null } })
    expect(after.body.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp)
  })
})

describe('preconditions', () => {
  it('delete only the object with this uid and version', async () => {
    const { metadata } = await created()
    const { uid, resourceVersion } = metadata
    const { status } = await api.delete(path(metadata.name), { preconditions: { uid, resourceVersion } })
    expect(status).toBe(200)
  })

  it('reject another uid', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), { preconditions: { uid: 'other' } })
    expect(status).toBe(409)
    expect(body).toEqual(
      failure({
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ConfigMap "${metadata.name}": the UID in the precondition (other) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
        details: { name: metadata.name, kind: 'ConfigMap' },
      }),
    )
  })

  it('reject another version', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), { preconditions: { resourceVersion: '1' } })
    expect(status).toBe(409)
    expect(body.message).toBe(
      `Operation cannot be fulfilled on ConfigMap "${metadata.name}": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
    expect(await isGone(path(metadata.name))).toBe(false)
  })
})

describe('options', () => {
  it.each([
    ['in the query', '?propagationPolicy=Foreground', undefined],
    ['in a JSON body', '', { propagationPolicy: 'Foreground' }],
    ['in a typed JSON body', '', { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' }],
  ])('are read %s', async (_, query, body) => {
    const { metadata } = await created()
    const response = await api.delete(`${path(metadata.name)}${query}`, body)
    expect(response.status).toBe(200)
    expect(response.body.metadata.finalizers).toEqual(['foregroundDeletion'])
  })

  it('are read in a YAML body', async () => {
    const { metadata } = await created()
    const { body } = await api.delete(path(metadata.name), 'propagationPolicy: Orphan\n', {
      'content-type': 'application/yaml',
    })
    expect(body.metadata.finalizers).toEqual(['orphan'])
  })

  it.each<[string, Json, string, string, string]>([
    [
      'an unknown propagation policy',
      { propagationPolicy: 'Sideways' },
      'propagationPolicy',
      'FieldValueNotSupported',
      'Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      'two policies together',
      { propagationPolicy: 'Orphan', orphanDependents: true },
      'propagationPolicy',
      'FieldValueInvalid',
      'Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    [
      'an unknown dry run',
      { dryRun: ['Some'] },
      'dryRun',
      'FieldValueNotSupported',
      'Unsupported value: ["Some"]: supported values: "All"',
    ],
  ])('with %s are rejected', async (_, options, field, reason, message) => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), options)
    expect(status).toBe(422)
    expect(body).toEqual(invalid('DeleteOptions.meta.k8s.io', '', { field, reason, message }))
    expect(await isGone(path(metadata.name))).toBe(false)
  })

  it('of another kind are rejected', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), { apiVersion: 'v1', kind: 'ConfigMap' })
    expect(status).toBe(400)
    expect(body).toEqual(
      badRequest('no kind "ConfigMap" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'),
    )
  })

  it('that are not JSON are rejected', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), '{')
    expect(status).toBe(400)
    expect(body).toEqual(badRequest("couldn't get version/kind; json parse error: unexpected end of JSON input"))
  })

  it('in another format are rejected', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(path(metadata.name), 'x', { 'content-type': 'text/plain' })
    expect(status).toBe(415)
    expect(body.reason).toBe('UnsupportedMediaType')
  })

  it('in the query with an invalid number are rejected', async () => {
    const { metadata } = await created()
    const { status, body } = await api.delete(`${path(metadata.name)}?gracePeriodSeconds=soon`)
    expect(status).toBe(400)
    expect(body).toEqual(badRequest('strconv.ParseInt: parsing "soon": invalid syntax'))
  })
})

describe('grace', () => {
  const unscheduled = (name: string) => pod(name, { spec: { schedulerName: 'nobody' } })

  it('does not apply to a pod without a node', async () => {
    const { metadata } = await api.create(pods(api.namespace), unscheduled(unique('nowhere')))
    const { status, body } = await api.delete(`${pods(api.namespace)}/${metadata.name}`)
    expect(status).toBe(200)
    expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 })
    expect(await isGone(`${pods(api.namespace)}/${metadata.name}`)).toBe(true)
  })

  it('applies to a running pod, and is in the response', async () => {
    const held = pod(unique('running'), { metadata: { finalizers: ['example.com/hold'] } })
    const { metadata } = await api.create(pods(api.namespace), held)
    const of = `${pods(api.namespace)}/${metadata.name}`
    await until('the pod runs', async () => (await api.get(of)).body.status.phase === 'Running')
    const { body } = await api.delete(of)
    expect(body.metadata.deletionGracePeriodSeconds).toBe(30)
    await api.patch(of, { metadata: { finalizers: null } })
    await until('the pod ends', () => isGone(of))
  })

  it.each([
    ['shorter', '?gracePeriodSeconds=5', 5],
    ['none', '?gracePeriodSeconds=0', 0],
  ])('can be %s on request', async (_, query, seconds) => {
    const held = pod(unique('running'), { metadata: { finalizers: ['example.com/hold'] } })
    const { metadata } = await api.create(pods(api.namespace), held)
    const of = `${pods(api.namespace)}/${metadata.name}`
    await until('the pod runs', async () => (await api.get(of)).body.status.phase === 'Running')
    const { body } = await api.delete(`${of}${query}`)
    expect(body.metadata.deletionGracePeriodSeconds).toBe(seconds)
    await api.patch(of, { metadata: { finalizers: null } })
    await until('the pod ends', () => isGone(of))
  })

  it('does not apply to other kinds', async () => {
    const { metadata } = await created()
    const { body } = await api.delete(`${path(metadata.name)}?gracePeriodSeconds=60`)
    expect(body.status).toBe('Success')
    expect(await isGone(path(metadata.name))).toBe(true)
  })
})

describe('a collection', () => {
  const named = (body: Json) => body.items.map((item: Json) => item.metadata.name)

  it('deletes what its selectors match, and the response lists it', async () => {
    const label = unique('label')
    const names = ['a', 'b'].map((name) => `${label}-${name}`)
    for (const name of names)
      await api.create(configMaps(api.namespace), configMap(name, { metadata: { labels: { label } } }))
    const { metadata } = await created()
    const { status, body } = await api.delete(`${configMaps(api.namespace)}?labelSelector=label%3D${label}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' })
    expect(named(body)).toEqual(names)
    for (const name of names) expect(await isGone(path(name))).toBe(true)
    expect(await isGone(path(metadata.name))).toBe(false)
  })

  it('deletes one object with a field selector', async () => {
    const { metadata } = await created()
    const { body } = await api.delete(`${configMaps(api.namespace)}?fieldSelector=metadata.name%3D${metadata.name}`)
    expect(named(body)).toEqual([metadata.name])
    expect(await isGone(path(metadata.name))).toBe(true)
  })

  it('keeps objects with finalizers, marked as deleted', async () => {
    const label = unique('label')
    const { metadata } = await created({ labels: { label }, finalizers: ['example.com/hold'] })
    await api.delete(`${configMaps(api.namespace)}?labelSelector=label%3D${label}`)
    const { body } = await api.get(path(metadata.name))
    expect(normalised(body).metadata.deletionTimestamp).toBe('<deletionTimestamp>')
  })

  it('deletes nothing when nothing matches', async () => {
    const { status, body } = await api.delete(`${configMaps(api.namespace)}?labelSelector=nothing-has-this`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'ConfigMapList', items: [] })
  })

  it('is unchanged when the selector or an option is invalid', async () => {
    const selector = await api.delete(`${configMaps(api.namespace)}?labelSelector=%3D`)
    expect(selector.status).toBe(400)
    const option = await api.delete(`${configMaps(api.namespace)}?labelSelector=nothing`, { propagationPolicy: 'x' })
    expect(option.status).toBe(422)
  })

  it.each(['/api/v1/configmaps', '/api/v1/namespaces', '/api/v1/namespaces/default/services/x/status'])(
    'at %s cannot be deleted',
    async (of) => {
      const { status, body } = await api.delete(of)
      expect(status).toBe(405)
      expect(body).toEqual(methodNotAllowed)
    },
  )
})
