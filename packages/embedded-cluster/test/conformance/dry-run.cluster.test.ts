/** Dry runs: all steps of a write except storing. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments, normalised, pod, pods } from './support/objects.ts'
import { conflict, failure, invalid } from './support/status.ts'

const api = ConformanceApi.forThisFile()
const path = (name: string) => `${configMaps(api.namespace)}/${name}`

describe('a dry run', () => {
  it('of a create returns what would be stored, but stores nothing', async () => {
    const name = unique('dry')
    const { status, body } = await api.post(
      `${configMaps(api.namespace)}?dryRun=All`,
      configMap(name, { data: { k: 'v' } }),
    )
    expect(status).toBe(201)
    expect(normalised(body)).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, namespace: api.namespace, uid: '<uid>', creationTimestamp: '<creationTimestamp>' },
      data: { k: 'v' },
    })
    expect((await api.get(path(name))).status).toBe(404)
  })

  it('sets defaults', async () => {
    const { body } = await api.post(`${deployments(api.namespace)}?dryRun=All`, deployment(unique('dry')))
    expect(body.spec).toMatchObject({ revisionHistoryLimit: 10, strategy: { type: 'RollingUpdate' } })
  })

  it('completes generateName', async () => {
    const { body } = await api.post(`${configMaps(api.namespace)}?dryRun=All`, { metadata: { generateName: 'dry-' } })
    expect(body.metadata.name).toMatch(/^dry-.{5}$/)
  })

  it('that is requested twice is valid', async () => {
    const name = unique('dry')
    const { status } = await api.post(`${configMaps(api.namespace)}?dryRun=All&dryRun=All`, configMap(name))
    expect(status).toBe(201)
    expect((await api.get(path(name))).status).toBe(404)
  })

  it('of a create detects an existing name', async () => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('taken')))
    const { status, body } = await api.post(`${configMaps(api.namespace)}?dryRun=All`, configMap(metadata.name))
    expect(status).toBe(409)
    expect(body.reason).toBe('AlreadyExists')
  })

  it('detects invalid fields', async () => {
    const { status } = await api.post(`${deployments(api.namespace)}?dryRun=All`, {
      metadata: { name: 'empty' },
      spec: { selector: {} },
    })
    expect(status).toBe(422)
  })

  it('of a replacement keeps object and version', async () => {
    const before = await api.create(configMaps(api.namespace), configMap(unique('kept'), { data: { k: '1' } }))
    const { name, resourceVersion } = before.metadata
    const { status, body } = await api.put(`${path(name)}?dryRun=All`, { ...before, data: { k: '2' } })
    expect(status).toBe(200)
    expect(body).toMatchObject({ metadata: { resourceVersion }, data: { k: '2' } })
    expect((await api.get(path(name))).body).toEqual(before)
  })

  it('of a replacement detects a conflict', async () => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('kept')))
    const stale = configMap(metadata.name, { metadata: { resourceVersion: '1' }, data: { k: '2' } })
    const { status, body } = await api.put(`${path(metadata.name)}?dryRun=All`, stale)
    expect(status).toBe(409)
    expect(body).toEqual(conflict('configmaps', metadata.name))
  })

  it('of a patch increments the generation in the response only', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('kept')))
    const of = `${deployments(api.namespace)}/${metadata.name}`
    const { body } = await api.patch(`${of}?dryRun=All`, { spec: { paused: true } })
    expect(body.metadata.generation).toBe(2)
    expect((await api.get(of)).body.metadata.generation).toBe(1)
  })

  it.each<[string, string, Json]>([
    ['in the query', '?dryRun=All', undefined],
    ['in the body', '', { dryRun: ['All'] }],
  ])('of a deletion, %s, responds as if it were done', async (_, query, options) => {
    const { metadata } = await api.create(configMaps(api.namespace), configMap(unique('kept')))
    const { status, body } = await api.delete(`${path(metadata.name)}${query}`, options)
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'Success', details: { name: metadata.name, uid: metadata.uid } })
    expect((await api.get(path(metadata.name))).body.metadata).not.toHaveProperty('deletionTimestamp')
  })

  it('of a deletion does not mark objects with finalizers', async () => {
    const held = configMap(unique('kept'), { metadata: { finalizers: ['example.com/hold'] } })
    const before = await api.create(configMaps(api.namespace), held)
    const { status } = await api.delete(`${path(before.metadata.name)}?dryRun=All`)
    expect(status).toBe(200)
    expect((await api.get(path(before.metadata.name))).body).toEqual(before)
  })

  it('of a collection lists what would be deleted', async () => {
    const label = unique('label')
    const { metadata } = await api.create(
      configMaps(api.namespace),
      configMap(unique('kept'), { metadata: { labels: { label } } }),
    )
    const { body } = await api.delete(`${configMaps(api.namespace)}?labelSelector=label%3D${label}&dryRun=All`)
    expect(body.items.map((item: Json) => item.metadata.name)).toEqual([metadata.name])
    expect((await api.get(path(metadata.name))).status).toBe(200)
  })

  it('of a scale changes no replicas', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('kept')))
    const of = `${deployments(api.namespace)}/${metadata.name}`
    const { status, body } = await api.patch(`${of}/scale?dryRun=All`, { spec: { replicas: 7 } })
    expect(status).toBe(200)
    expect(body.spec.replicas).toBe(7)
    expect((await api.get(of)).body.spec.replicas).toBe(0)
  })

  it('of an eviction keeps the pod', async () => {
    const unscheduled = pod(unique('kept'), { spec: { schedulerName: 'nobody' } })
    const { metadata } = await api.create(pods(api.namespace), unscheduled)
    const of = `${pods(api.namespace)}/${metadata.name}`
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: metadata.name } }
    expect((await api.post(`${of}/eviction?dryRun=All`, eviction)).status).toBe(201)
    expect((await api.get(of)).status).toBe(200)
  })

  it('allocates no Service address', async () => {
    const services = `/api/v1/namespaces/${api.namespace}/services`
    const service = (name: string, clusterIP?: string) => ({
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...(clusterIP && { clusterIP }) },
    })
    const { spec } = await api.create(services, service(unique('address')))
    await api.delete(`${services}/${(await api.get(services)).body.items[0].metadata.name}`)
    const dry = await api.post(`${services}?dryRun=All`, service(unique('dry'), spec.clusterIP))
    expect(dry.status).toBe(201)
    expect((await api.post(services, service(unique('address'), spec.clusterIP))).status).toBe(201)
  })

  it.each(['yes', 'all', ''])('with the value "%s" is rejected', async (value) => {
    const { status, body } = await api.post(`${configMaps(api.namespace)}?dryRun=${value}`, configMap('x'))
    expect(status).toBe(422)
    expect(body).toEqual(
      invalid('CreateOptions.meta.k8s.io', '', {
        field: 'dryRun',
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ["${value}"]: supported values: "All"`,
      }),
    )
  })

  it('of a missing object responds 404', async () => {
    const { status, body } = await api.patch(`${path('nobody')}?dryRun=All`, { data: { k: 'v' } })
    expect(status).toBe(404)
    expect(body).toEqual(
      failure({
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "nobody" not found',
        details: { name: 'nobody', kind: 'configmaps' },
      }),
    )
  })
})
