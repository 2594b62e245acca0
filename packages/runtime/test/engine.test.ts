import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  createClient,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Resource,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, type DesiredObject, desired } from '@reeve/runtime'
import { type Change, StaleViewError } from '@reeve/runtime/engine'
import { controllerOf } from '@reeve/runtime/owner-references'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AcceptedDifferences } from '../src/engine/accepted-differences.ts'
import { applyOne, prune } from '../src/engine/apply.ts'
import { ComparedObjects } from '../src/engine/compared-objects.ts'
import { findLeftovers } from '../src/engine/leftovers.ts'
import { OwnerCheck, VersionOrder } from '../src/engine/owner-check.ts'
import { FieldTreePool } from '../src/field-ownership/field-tree.ts'

const MANAGER = 'engine-test'
const inDefault = (name: string) => ({ namespace: 'default', name })

let cluster: EmbeddedCluster
let client: KubeClient
let owner: Stored<KubeObject>
let accepted: AcceptedDifferences
const trees = new FieldTreePool()

beforeEach(async () => {
  cluster = await startEmbeddedCluster()
  client = createClient({ transport: cluster.transport })
  accepted = new AcceptedDifferences()
  owner = await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('owner') })
})
afterEach(() => cluster.stop())

/** A view that is as fresh as the server. */
async function lookNow(...resources: Resource[]): Promise<CacheReader> {
  const lists = new Map<Resource, readonly Stored<KubeObject>[]>()
  for (const resource of resources) lists.set(resource, (await client.listAll(resource)).items)
  return {
    byIndex: () => [],
    selects: () => true,
    // Each list holds objects of the resource that was requested.
    get: <T extends KubeObject>(resource: Resource<T>, key: ObjectKey) =>
      lists.get(resource)?.find(({ metadata }) => metadata.name === key.name) as Stored<T> | undefined,
    list: <T extends KubeObject>(resource: Resource<T>) => (lists.get(resource) ?? []) as Stored<T>[],
    ownedBy: <T extends KubeObject>(resource: Resource<T>, uid: string) =>
      (lists.get(resource) ?? []).filter((object) => controllerOf(object)?.uid === uid) as Stored<T>[],
  }
}

/** Applies the objects one after the other, and prunes what is left. Returns what was written. */
async function apply(
  objects: readonly DesiredObject[],
  options: { readonly view?: CacheReader } = {},
): Promise<readonly Change[]> {
  const kinds = [ConfigMaps, Deployments]
  const view = options.view ?? (await lookNow(...kinds))
  const signal = new AbortController().signal
  const ownerCheck = new OwnerCheck({ client, resource: ConfigMaps, owner, view, versions: new VersionOrder(), signal })
  const memory = { trees, accepted, compared: new ComparedObjects() }
  const input = { client, owner, ownerCheck, view, elsewhere: [], fieldManager: MANAGER, ...memory, signal }
  const changes: Change[] = []
  for (const wanted of objects) {
    const { change } = await applyOne(wanted, input)
    if (change !== undefined) changes.push(change)
  }
  const leftovers = findLeftovers({ owner, desired: objects, kinds, elsewhere: [], view })
  for (const leftover of leftovers) changes.push(await prune(input, leftover))
  return changes
}

const settings = (data: Record<string, string>, name = 'settings') =>
  desired(ConfigMaps, { metadata: inDefault(name), data })
const deployment = (image: string, extra: Record<string, unknown> = {}) =>
  desired(Deployments, {
    metadata: inDefault('web'),
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }], ...extra }] },
      },
    },
  })
const summary = (changes: readonly Change[]) =>
  changes.map(({ type, object }) => `${type} ${object.kind} ${object.metadata.name}`)
const writes = () => cluster.requests.writes

describe('applying a desired state', () => {
  it('creates everything once and then writes nothing', async () => {
    expect(summary(await apply([settings({ a: '1' }), deployment('nginx:1')]))).toEqual([
      'created ConfigMap settings',
      'created Deployment web',
    ])
    const before = writes()
    expect(await apply([settings({ a: '1' }), deployment('nginx:1')])).toEqual([])
    expect(writes()).toBe(before)
  })

  it('writes nothing again after an update either', async () => {
    await apply([deployment('nginx:1')])
    expect(summary(await apply([deployment('nginx:2')]))).toEqual(['updated Deployment web'])
    expect(summary(await apply([deployment('nginx:2')]))).toEqual([])
    expect(summary(await apply([deployment('nginx:3')]))).toEqual(['updated Deployment web'])
    const live = await client.get(Deployments, inDefault('web'))
    expect(live.spec?.template.spec?.containers[0]?.image).toBe('nginx:3')
    expect(live.metadata.annotations).toBeUndefined()
  })

  it('heals a manual edit of a field it set and leaves fields it never set', async () => {
    await apply([settings({ a: '1' })])
    await client.patch(ConfigMaps, inDefault('settings'), {
      type: 'merge',
      patch: { data: { a: 'edited', theirs: 'x' } },
    })
    expect(summary(await apply([settings({ a: '1' })]))).toEqual(['updated ConfigMap settings'])
    expect((await client.get(ConfigMaps, inDefault('settings'))).data).toEqual({ a: '1', theirs: 'x' })
  })

  it('removes a key that is no longer desired, also right after creation', async () => {
    await apply([settings({ a: '1', b: '2' })])
    await apply([settings({ a: '1' })])
    expect((await client.get(ConfigMaps, inDefault('settings'))).data).toEqual({ a: '1' })
    await apply([deployment('nginx:1', { args: ['-v'], env: [{ name: 'A', value: '1' }] })])
    await apply([deployment('nginx:1')])
    const container = (await client.get(Deployments, inDefault('web'))).spec?.template.spec?.containers[0]
    expect(container?.args).toBeUndefined()
    expect(container?.env).toBeUndefined()
  })

  it('prunes what it no longer desires and never objects of other owners', async () => {
    await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('foreign') })
    await apply([settings({}), settings({}, 'second')])
    expect(summary(await apply([settings({})]))).toEqual(['deleted ConfigMap second'])
    expect(
      (await client.listAll(ConfigMaps, { namespace: 'default' })).items.map(({ metadata }) => metadata.name),
    ).toEqual(expect.arrayContaining(['foreign', 'settings']))
  })

  it('does not create, change or delete anything on an old view', async () => {
    const before = await lookNow(ConfigMaps)
    await apply([settings({ a: '1' })])
    await expect(apply([settings({ a: 'old' })], { view: before })).rejects.toThrow(StaleViewError)
    const seen = await lookNow(ConfigMaps)
    await client.patch(ConfigMaps, inDefault('settings'), { type: 'merge', patch: { data: { theirs: 'x' } } })
    await expect(apply([settings({ a: '2' })], { view: seen })).rejects.toThrow(StaleViewError)
    await expect(apply([], { view: seen })).rejects.toThrow(StaleViewError)
    expect((await client.get(ConfigMaps, inDefault('settings'))).data).toEqual({ a: '1', theirs: 'x' })
  })

  it('creates nothing for an owner that is deleted, is being deleted, or was replaced by another of its name', async () => {
    const before = writes()
    await client.delete(ConfigMaps, inDefault('owner'))
    await expect(apply([settings({ a: '1' })])).rejects.toThrow(StaleViewError)
    const metadata = { ...inDefault('owner'), finalizers: ['test/hold'] }
    const next = await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await expect(apply([settings({ a: '1' })])).rejects.toThrow(StaleViewError)
    owner = next
    await client.delete(ConfigMaps, inDefault('owner'))
    await expect(apply([settings({ a: '1' })])).rejects.toThrow(StaleViewError)
    expect(writes() - before).toBe(3)
  })

  it('fails when an object that the view does not contain has another owner', async () => {
    await client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('settings') })
    const blind: CacheReader = {
      get: () => undefined,
      list: () => [],
      byIndex: () => [],
      ownedBy: () => [],
      selects: () => true,
    }
    await expect(apply([settings({})], { view: blind })).rejects.toThrow(
      /ConfigMap default\/settings already exists and is not controlled by ConfigMap default\/owner/,
    )
  })

  it('never deletes the newer incarnation of an object', async () => {
    await apply([settings({ a: '1' })])
    const seen = await lookNow(ConfigMaps)
    await client.delete(ConfigMaps, inDefault('settings'))
    await apply([settings({ a: '2' })])
    await expect(apply([], { view: seen })).rejects.toThrow(StaleViewError)
    expect((await client.get(ConfigMaps, inDefault('settings'))).data).toEqual({ a: '2' })
  })

  it('takes a field that it sets back from another manager', async () => {
    await apply([settings({ a: '1' })])
    await client.apply(
      ConfigMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: inDefault('settings'), data: { a: 'theirs' } },
      { fieldManager: 'somebody', force: true },
    )
    expect(summary(await apply([settings({ a: '2' })]))).toEqual(['updated ConfigMap settings'])
    expect((await client.get(ConfigMaps, inDefault('settings'))).data).toEqual({ a: '2' })
  })

  it('accepts how the server rewrites a value instead of applying it forever', async () => {
    const wanted = deployment('nginx:1', { resources: { requests: { cpu: '0.5', memory: '1024Mi' } } })
    await apply([wanted])
    // The server returns the canonical form, 500m and 1Gi.
    const live = await client.get(Deployments, inDefault('web'))
    expect(live.spec?.template.spec?.containers[0]?.resources?.requests?.cpu).toBe('500m')
    const before = writes()
    await apply([wanted])
    expect(writes()).toBe(before)
  })

  it('recreates an object when an immutable field changes and recreation is allowed', async () => {
    await apply([deployment('nginx:1')])
    const other = deployment('nginx:1')
    const spec = other.object.spec
    const changed: DesiredObject = {
      ...desired(Deployments, {
        metadata: inDefault('web'),
        spec: {
          selector: { matchLabels: { app: 'other' } },
          template: { metadata: { labels: { app: 'other' } }, spec: spec?.template.spec ?? { containers: [] } },
        },
      }),
      onImmutable: 'recreate',
    }
    expect(summary(await apply([changed]))).toEqual(['deleted Deployment web'])
    await expect(client.get(Deployments, inDefault('web'))).rejects.toSatisfy(isNotFound)
    expect(summary(await apply([changed]))).toEqual(['created Deployment web'])
  })
})
