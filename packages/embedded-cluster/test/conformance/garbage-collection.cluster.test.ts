/** Owners and dependents: what is deleted with an owner, and in which order. */
import { describe, expect, it } from 'vitest'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { configMap, configMaps, deployment, deployments } from './support/objects.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const path = (name: string) => `${configMaps(api.namespace)}/${name}`
const isGone = async (name: string) => (await api.get(path(name))).status === 404
const NOBODY = '00000000-0000-4000-8000-000000000000'

function reference(owner: Json, more: Json = {}): Json {
  const { name, uid } = owner.metadata
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more }
}

function created(metadata: Json = {}): Promise<Json> {
  return api.create(configMaps(api.namespace), configMap(unique('object'), { metadata }))
}

describe('a dependent', () => {
  it.each<[string, Json]>([
    ['by default', undefined],
    ['with Background', { propagationPolicy: 'Background' }],
    ['with orphanDependents: false', { orphanDependents: false }],
  ])('is deleted after its owner: %s', async (_, options) => {
    const owner = await created()
    const dependent = await created({ ownerReferences: [reference(owner)] })
    const { status, body } = await api.delete(path(owner.metadata.name), options)
    expect(status).toBe(200)
    expect(body.status).toBe('Success')
    await until('the dependent is deleted', () => isGone(dependent.metadata.name))
  })

  it('is deleted before its owner with Foreground', async () => {
    const owner = await created()
    const held = { finalizers: ['example.com/hold'], ownerReferences: [reference(owner, { blockOwnerDeletion: true })] }
    const dependent = await created(held)
    const { body } = await api.delete(path(owner.metadata.name), { propagationPolicy: 'Foreground' })
    expect(body.metadata.finalizers).toEqual(['foregroundDeletion'])
    await until('the dependent is being deleted', async () => {
      return (await api.get(path(dependent.metadata.name))).body.metadata.deletionTimestamp !== undefined
    })
    expect(await isGone(owner.metadata.name)).toBe(false)
    await api.patch(path(dependent.metadata.name), { metadata: { finalizers: null } })
    await until('the owner is deleted', () => isGone(owner.metadata.name))
  })

  it('in a circle of owners is deleted with all of them', async () => {
    const names = ['first', 'second', 'third'].map((name) => unique(name))
    const circle: Json[] = []
    for (const name of names) circle.push(await api.create(configMaps(api.namespace), configMap(name)))
    for (const [index, name] of names.entries()) {
      const ownerReferences = [reference(circle.at(index - 1), { blockOwnerDeletion: true, controller: true })]
      await api.patch(path(name), { metadata: { ownerReferences } })
    }
    await api.delete(path(names[0] ?? ''), { propagationPolicy: 'Foreground' })
    for (const name of names) await until(`${name} is deleted`, () => isGone(name))
  })

  it('that does not block its owner is not waited for', async () => {
    const owner = await created()
    const dependent = await created({ finalizers: ['example.com/hold'], ownerReferences: [reference(owner)] })
    await api.delete(path(owner.metadata.name), { propagationPolicy: 'Foreground' })
    await until('the owner is deleted', () => isGone(owner.metadata.name))
    await until('the dependent is being deleted', async () => {
      return (await api.get(path(dependent.metadata.name))).body.metadata.deletionTimestamp !== undefined
    })
    await api.patch(path(dependent.metadata.name), { metadata: { finalizers: null } })
  })

  it.each<[string, Json]>([
    ['with Orphan', { propagationPolicy: 'Orphan' }],
    ['with orphanDependents: true', { orphanDependents: true }],
  ])('is kept, without its reference: %s', async (_, options) => {
    const owner = await created()
    const dependent = await created({ ownerReferences: [reference(owner)] })
    const { body } = await api.delete(path(owner.metadata.name), options)
    expect(body.metadata.finalizers).toEqual(['orphan'])
    await until('the owner is deleted', () => isGone(owner.metadata.name))
    const { status, body: kept } = await api.get(path(dependent.metadata.name))
    expect(status).toBe(200)
    expect(kept.metadata).not.toHaveProperty('ownerReferences')
  })

  it('of two owners is deleted with the last of them', async () => {
    const [first, second] = [await created(), await created()]
    const { metadata } = await created({ ownerReferences: [reference(first), reference(second)] })
    await api.delete(path(first.metadata.name))
    await until('the reference to the first is removed', async () => {
      const { ownerReferences } = (await api.get(path(metadata.name))).body.metadata
      return ownerReferences.length === 1 && ownerReferences[0].uid === second.metadata.uid
    })
    await api.delete(path(second.metadata.name))
    await until('the dependent is deleted', () => isGone(metadata.name))
  })

  it('of a dependent is deleted, too', async () => {
    const owner = await created()
    const child = await created({ ownerReferences: [reference(owner)] })
    const grandchild = await created({ ownerReferences: [reference(child)] })
    await api.delete(path(owner.metadata.name))
    await until('the grandchild is deleted', () => isGone(grandchild.metadata.name))
    expect(await isGone(child.metadata.name)).toBe(true)
  })

  it('of an owner that never existed is deleted', async () => {
    const missing = { metadata: { name: 'nobody', uid: NOBODY } }
    const { metadata } = await created({ ownerReferences: [reference(missing)] })
    await until('the dependent is deleted', () => isGone(metadata.name))
  })

  it('of an owner that was recreated is deleted: the uid matters, not the name', async () => {
    const owner = await created()
    const { metadata } = await created({ ownerReferences: [reference(owner, { uid: NOBODY })] })
    await until('the dependent is deleted', () => isGone(metadata.name))
    expect(await isGone(owner.metadata.name)).toBe(false)
  })

  it('of an owner in another API group is deleted with it', async () => {
    const { metadata } = await api.create(deployments(api.namespace), deployment(unique('owner')))
    const { name, uid } = metadata
    const dependent = await created({ ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name, uid }] })
    await api.delete(`${deployments(api.namespace)}/${name}`)
    await until('the dependent is deleted', () => isGone(dependent.metadata.name))
  })
})

describe('a Deployment', () => {
  const sets = (name: string) => `/apis/apps/v1/namespaces/${api.namespace}/replicasets?labelSelector=app%3D${name}`
  const own = (name: string) => `/api/v1/namespaces/${api.namespace}/pods?labelSelector=app%3D${name}`
  const count = async (of: string) => (await api.get(of)).body.items.length

  it('is deleted with its ReplicaSets and pods', async () => {
    const name = unique('web')
    await api.create(deployments(api.namespace), deployment(name, { replicas: 2 }))
    await until('its pods', async () => (await count(own(name))) === 2)
    await api.delete(`${deployments(api.namespace)}/${name}`, { propagationPolicy: 'Foreground' })
    await until(
      'everything is deleted',
      async () => (await api.get(`${deployments(api.namespace)}/${name}`)).status === 404,
    )
    expect([await count(sets(name)), await count(own(name))]).toEqual([0, 0])
  })

  it('orphans them on request, and another one adopts them', async () => {
    const name = unique('web')
    await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await until('its pod', async () => (await count(own(name))) === 1)
    await api.delete(`${deployments(api.namespace)}/${name}`, { propagationPolicy: 'Orphan' })
    await until('it is deleted', async () => (await api.get(`${deployments(api.namespace)}/${name}`)).status === 404)
    const [set] = (await api.get(sets(name))).body.items
    expect(set.metadata).not.toHaveProperty('ownerReferences')
    const { metadata } = await api.create(deployments(api.namespace), deployment(name, { replicas: 1 }))
    await until('the new one adopts the set', async () => {
      const [again] = (await api.get(sets(name))).body.items
      return again.metadata.ownerReferences?.[0]?.uid === metadata.uid
    })
    expect([await count(sets(name)), await count(own(name))]).toEqual([1, 1])
  })
})
