import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConfigMap } from './kinds/cluster.ts'
import { type ClusterObject, type Draft, keyOf, type OwnerReference } from './kinds/meta.ts'
import { startTestCluster, type TestCluster } from './testing/test-cluster.ts'

let cluster: TestCluster
beforeEach(async () => {
  cluster = await startTestCluster({ nodes: 0 })
})
afterEach(async () => {
  await cluster.stop()
  expect(cluster.problems).toEqual([])
})

type Owned = { name: string; owners?: OwnerReference[]; namespace?: string; finalizers?: string[] }

function draft({ name, owners, namespace = 'default', finalizers }: Owned): Draft<ConfigMap> {
  const more = { ...(owners && { ownerReferences: owners }), ...(finalizers && { finalizers }) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...more } }
}

function create(owned: Owned): Promise<ConfigMap> {
  return cluster.of<ConfigMap>('configmaps').create(draft(owned))
}

function ownedBy(owner: ClusterObject, more: Partial<OwnerReference> = {}): OwnerReference {
  const { apiVersion, kind, metadata } = owner
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more }
}

function names(): string[] {
  const maps = cluster.of<ConfigMap>('configmaps').list('default')
  return maps.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt')
}

function get(name: string): ConfigMap | undefined {
  return cluster.of<ConfigMap>('configmaps').get('default', name)
}

async function remove(object: ConfigMap, propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
  await cluster.of<ConfigMap>('configmaps').delete(object, propagationPolicy === undefined ? {} : { propagationPolicy })
  await cluster.settle()
}

describe('when an owner is deleted', () => {
  it('deletes its dependents recursively', async () => {
    const parent = await create({ name: 'parent' })
    const child = await create({ name: 'child', owners: [ownedBy(parent)] })
    await create({ name: 'grandchild', owners: [ownedBy(child)] })
    await create({ name: 'stranger' })
    await remove(parent)
    expect(names()).toEqual(['stranger'])
  })

  it('keeps a dependent that has another owner and removes the dangling reference', async () => {
    const [one, two] = [await create({ name: 'one' }), await create({ name: 'two' })]
    await create({ name: 'child', owners: [ownedBy(one), ownedBy(two)] })
    await remove(one)
    expect(get('child')?.metadata.ownerReferences).toEqual([ownedBy(two)])
    await remove(two)
    expect(names()).toEqual([])
  })

  it('keeps dependents when the policy is Orphan', async () => {
    const parent = await create({ name: 'parent' })
    await create({ name: 'child', owners: [ownedBy(parent)] })
    await remove(parent, 'Orphan')
    expect(names()).toEqual(['child'])
    expect(get('child')?.metadata.ownerReferences ?? []).toEqual([])
  })

  it('waits in the foreground for dependents that block it', async () => {
    const parent = await create({ name: 'parent' })
    await create({ name: 'child', owners: [ownedBy(parent, { blockOwnerDeletion: true })], finalizers: ['test/hold'] })
    await remove(parent, 'Foreground')
    expect(get('parent')?.metadata).toMatchObject({ finalizers: ['foregroundDeletion'] })
    expect(get('child')?.metadata.deletionTimestamp).toBeDefined()
    await cluster.change<ConfigMap>('configmaps', 'default/child', (map) => ({
      ...map,
      metadata: { ...map.metadata, finalizers: [] },
    }))
    await cluster.settle()
    expect(names()).toEqual([])
  })

  it('does not wait in the foreground for dependents that do not block', async () => {
    const parent = await create({ name: 'parent' })
    await create({ name: 'child', owners: [ownedBy(parent)], finalizers: ['test/hold'] })
    await remove(parent, 'Foreground')
    expect(names()).toEqual(['child'])
    expect(get('child')?.metadata.deletionTimestamp).toBeDefined()
  })

  it('applies foreground deletion recursively', async () => {
    const blocking = { blockOwnerDeletion: true }
    const parent = await create({ name: 'parent' })
    const child = await create({ name: 'child', owners: [ownedBy(parent, blocking)] })
    await create({ name: 'grandchild', owners: [ownedBy(child, blocking)], finalizers: ['test/hold'] })
    await remove(parent, 'Foreground')
    expect(names().sort()).toEqual(['child', 'grandchild', 'parent'])
    await cluster.change<ConfigMap>('configmaps', 'default/grandchild', (map) => ({
      ...map,
      metadata: { ...map.metadata, finalizers: [] },
    }))
    await cluster.settle()
    expect(names()).toEqual([])
  })
})

describe('a reference to an owner', () => {
  it('that does not exist causes the deletion of the dependent', async () => {
    const ghost = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'gone' }
    await create({ name: 'child', owners: [ghost] })
    await cluster.settle()
    expect(names()).toEqual([])
  })

  it('with the uid of an earlier object of that name causes the deletion of the dependent', async () => {
    const parent = await create({ name: 'parent' })
    await create({ name: 'child', owners: [ownedBy(parent, { uid: 'of-another-time' })] })
    await cluster.settle()
    expect(names()).toEqual(['parent'])
  })

  it('in another namespace counts as absent', async () => {
    await cluster.createNamespace('other')
    const parent = await create({ name: 'parent', namespace: 'other' })
    await create({ name: 'child', owners: [ownedBy(parent)] })
    await cluster.settle()
    expect(names()).toEqual([])
  })

  it('that is cluster-scoped keeps objects in every namespace', async () => {
    const node = await cluster.create('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    const owner = cluster.of<ClusterObject>('nodes').get('', 'n')
    if (owner === undefined) throw new Error(`no node ${JSON.stringify(node)}`)
    await create({ name: 'child', owners: [ownedBy(owner)] })
    await cluster.settle()
    expect(names()).toEqual(['child'])
    await cluster.of<ClusterObject>('nodes').delete(owner)
    await cluster.settle()
    expect(names()).toEqual([])
  })

  it('in a namespace never causes the deletion of a cluster-scoped object', async () => {
    const parent = await create({ name: 'parent' })
    await cluster.create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', ownerReferences: [{ ...ownedBy(parent) }] },
    })
    await remove(parent)
    expect(cluster.of<ClusterObject>('nodes').list().map(keyOf)).toEqual(['n'])
  })

  it('of an unknown kind keeps the dependent, until the kind is served and the owner does not exist', async () => {
    const unknown = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'w', uid: 'w-uid' }
    await create({ name: 'child', owners: [unknown] })
    await cluster.settle()
    expect(names()).toEqual(['child'])
    await cluster.define('Widget', 'example.com')
    await cluster.settle()
    expect(names()).toEqual([])
  })
})

it('the garbage collector collects dependents of custom resources that were defined later', async () => {
  await cluster.define('Widget', 'example.com')
  const widgets = cluster.of<ClusterObject>('widgets.example.com')
  const metadata = { name: 'w', namespace: 'default' }
  const widget = await widgets.create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  await create({ name: 'child', owners: [ownedBy(widget)] })
  await cluster.settle()
  expect(names()).toEqual(['child'])
  await widgets.delete(widget)
  await cluster.settle()
  expect(names()).toEqual([])
})

it('the garbage collector collects objects after a restart that lost their owner meanwhile', async () => {
  const parent = await create({ name: 'parent' })
  await create({ name: 'child', owners: [ownedBy(parent)] })
  await cluster.stop()
  await cluster.of<ConfigMap>('configmaps').delete(parent)
  await cluster.restart()
  expect(names()).toEqual([])
})

it('the garbage collector ignores objects that are already being deleted', async () => {
  const parent = await create({ name: 'parent' })
  const child = await create({ name: 'child', owners: [ownedBy(parent)], finalizers: ['test/hold'] })
  await remove(child)
  const { writes } = cluster.api
  await remove(parent)
  expect(cluster.api.writes).toBe(writes + 1)
  expect(names()).toEqual(['child'])
})
