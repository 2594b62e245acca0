/** Which objects of components are applied, pruned, kept and rejected. */
import { type ConfigMap, ConfigMaps, type KubeObject, Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import { desired, type ReconcileSummary } from '@reeve/runtime'
import type { DesiredOptions } from '@reeve/runtime/engine'
import { describe, expect, it } from 'vitest'
import { type Gadget, GadgetStage, Gadgets, key, part } from './support/gadgets.ts'

const stage = GadgetStage.forThisFile()
const { edit, engineFor, names, reconcile } = stage

describe('waves', () => {
  const named = (name: string, options?: DesiredOptions<ConfigMap>) =>
    desired(ConfigMaps, { metadata: { namespace: 'default', name } }, options)

  it('are applied lowest first, each in the order in which its objects are rendered', async () => {
    const written: string[] = []
    const render = () => [named('late', { wave: 2 }), named('b'), named('a')]
    const report = ({ changes }: ReconcileSummary<Gadget>) => {
      written.push(...changes.map(({ object }) => object.metadata.name))
      return undefined
    }
    await reconcile([part('a', { render })], { report })
    expect(written).toEqual(['b', 'a', 'late'])
  })

  it('wait until the one before is ready, and nothing is pruned meanwhile', async () => {
    await reconcile([part('a', { render: () => [named('old')] })])
    const isReady = ({ metadata }: KubeObject) => metadata.labels?.ready === 'yes'
    const render = () => [named('second', { wave: 1 }), named('first', { isReady })]
    await reconcile([part('a', { render })])
    expect(await names()).toEqual(['first', 'old'])
    await stage.client.patch(
      ConfigMaps,
      { namespace: 'default', name: 'first' },
      { type: 'merge', patch: { metadata: { labels: { ready: 'yes' } } } },
    )
    await reconcile([part('a', { render })])
    expect(await names()).toEqual(['first', 'second'])
  })
})

describe('objects that the cache would not show', () => {
  it('are rejected when they are rendered', async () => {
    stage.selector = 'app=gadget'
    await expect(reconcile([part('a')])).rejects.toThrow(/ConfigMap default\/a is not selected by the informer/)
    expect(await names()).toEqual([])
  })

  it('are healed when they are ours and lost the label', async () => {
    stage.selector = 'app=gadget'
    const labelled = (text: string) =>
      part('a', {
        render: () => [
          desired(ConfigMaps, {
            metadata: { namespace: 'default', name: 'a', labels: { app: 'gadget' } },
            data: { text },
          }),
        ],
      })
    await reconcile([labelled('one')])
    await stage.client.patch(
      ConfigMaps,
      { namespace: 'default', name: 'a' },
      {
        type: 'merge',
        patch: { metadata: { labels: { app: null } } },
      },
    )
    await reconcile([labelled('two')])
    const { metadata, data } = await stage.client.get(ConfigMaps, { namespace: 'default', name: 'a' })
    expect([metadata.labels, data]).toEqual([{ app: 'gadget' }, { text: 'two' }])
  })
})

describe('objects in other namespaces', () => {
  const elsewhere = [{ resource: Secrets, label: 'gadget', labelValue: ({ name }: ObjectKey) => name }]
  const copy = (namespace: string) =>
    desired(Secrets, { metadata: { namespace, name: 'copy' }, data: { token: 'c2VjcmV0' } })
  const copies = async () =>
    (await stage.client.listAll(Secrets)).items
      .filter(({ metadata }) => metadata.name === 'copy')
      .map(({ metadata }) => metadata.namespace)

  it('are applied, pruned, and deleted after the resource is deleted', async () => {
    const inNamespaces = (...namespaces: string[]) => part('a', { render: () => namespaces.map(copy) })
    await reconcile([inNamespaces('kube-system', 'kube-public')], { elsewhere })
    expect(await copies()).toEqual(['kube-public', 'kube-system'])
    const before = stage.writes
    await reconcile([inNamespaces('kube-system', 'kube-public')], { elsewhere })
    expect(stage.writes).toBe(before)
    await reconcile([inNamespaces('kube-public')], { elsewhere })
    expect(await copies()).toEqual(['kube-public'])
    await stage.client.delete(Gadgets, key)
    await reconcile([inNamespaces('kube-public')], { elsewhere })
    expect(await copies()).toEqual([])
  })

  it('are kept where their kind says that the view is not sufficient, until the resource is deleted', async () => {
    const isKnown = ({ metadata }: KubeObject) => metadata.namespace !== 'kube-system'
    const careful = elsewhere.map((kind) => ({ ...kind, isPrunable: isKnown }))
    await reconcile([part('a', { render: () => ['kube-system', 'kube-public'].map(copy) })], { elsewhere: careful })
    await reconcile([part('a', { render: () => [] })], { elsewhere: careful })
    expect(await copies()).toEqual(['kube-system'])
    await stage.client.delete(Gadgets, key)
    await reconcile([part('a', { render: () => [] })], { elsewhere: careful })
    expect(await copies()).toEqual([])
  })

  it('of other owners are not changed', async () => {
    const { apiVersion, kind } = { apiVersion: 'v1', kind: 'Secret' }
    await stage.client.create(Secrets, { apiVersion, kind, metadata: { namespace: 'kube-public', name: 'copy' } })
    await expect(reconcile([part('a', { render: () => [copy('kube-public')] })], { elsewhere })).rejects.toThrow(
      'Secret kube-public/copy already exists and is not controlled by Gadget default/g',
    )
  })

  it('need a declaration of how they are found again', async () => {
    await expect(reconcile([part('a', { render: () => [copy('kube-public')] })])).rejects.toThrow(
      'Gadget default/g cannot own Secret kube-public/copy',
    )
  })
})

describe('kinds that are read on demand', () => {
  const onDemand = {
    kinds: [Secrets],
    isWanted: ({ spec }: Gadget) => spec.parts.includes('a'),
    missing: (cause: unknown) => new Error('install Secrets first', { cause }),
  }
  const secret = () => desired(Secrets, { metadata: { namespace: 'default', name: 'made' } })
  const made = async () =>
    (await stage.client.listAll(Secrets, { namespace: 'default' })).items.some(
      ({ metadata }) => metadata.name === 'made',
    )

  it('are pruned once they are no longer desired, although that fails at first', async () => {
    const reconcileAll = engineFor([part('a', { render: () => [secret()] })], { onDemand })
    await reconcileAll()
    expect(await made()).toBe(true)
    await edit('b')
    stage.cluster.faults.inject({ verb: 'delete', resource: 'secrets' }, { kind: 'status', code: 403 }, { times: 1 })
    await expect(reconcileAll()).rejects.toThrow()
    expect(await made()).toBe(true)
    await reconcileAll()
    expect(await made()).toBe(false)
  })

  it('fail only those who render them when the cluster does not serve them', async () => {
    stage.cluster.faults.inject({ verb: 'list', resource: 'secrets' }, { kind: 'status', code: 404 }, { times: 2 })
    const reconcileAll = engineFor([part('a', { render: () => [secret()] }), part('b')], { onDemand })
    await expect(reconcileAll({ readsSecrets: false })).rejects.toThrow('install Secrets first')
    expect(await names()).toEqual(['b'])
  })
})

describe('an object that is only created', () => {
  const kept = () => desired(Namespaces, { metadata: { name: 'tenant', labels: { by: 'us' } } }, { createOnly: true })

  it('is never changed afterwards', async () => {
    const engine = engineFor([part('a', { render: () => [kept()] })])
    await engine()
    expect((await stage.client.get(Namespaces, { name: 'tenant' })).metadata).not.toHaveProperty('ownerReferences')
    await stage.client.patch(
      Namespaces,
      { name: 'tenant' },
      { type: 'merge', patch: { metadata: { labels: { by: 'you' } } } },
    )
    await engine()
    await edit('b')
    await engine()
    expect((await stage.client.get(Namespaces, { name: 'tenant' })).metadata.labels).toMatchObject({ by: 'you' })
  })
})
