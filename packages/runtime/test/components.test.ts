import { conditions, crdManifest, defineCrd, type ObjectOf } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  type KubeObject,
  Namespaces,
  type ObjectKey,
  type Resource,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { type CacheReader, type Component, desired, type Occurrence, silentLogger, waiting } from '@reeve/runtime'
import { labelMatcher } from '@reeve/runtime/cache'
import {
  type AnyComponent,
  type ComponentOptions,
  fallback,
  InvalidComponentsError,
  reconcileComponents,
} from '@reeve/runtime/components'
import { noRuntimeWatches, type ReconcileResult } from '@reeve/runtime/controller'
import { StaleViewError } from '@reeve/runtime/engine'
import { controllerOf } from '@reeve/runtime/owner-references'
import { Type } from 'typebox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SimulatedClock } from '../src/testing/index.ts'

const v1 = {
  spec: Type.Object({ parts: Type.Array(Type.String()) }),
  status: Type.Object({
    note: Type.Optional(Type.String()),
    phase: Type.Optional(Type.String()),
    conditions: Type.Optional(conditions()),
  }),
} as const
const GadgetCrd = defineCrd({
  group: 'example.com',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
  versions: { v1 },
})
const Gadgets = GadgetCrd.resource('v1')
type Gadget = ObjectOf<typeof v1>
type Part = Component<Gadget, unknown>

const key = { namespace: 'default', name: 'g' }
const clock = new SimulatedClock()
let cluster: EmbeddedCluster
let client: KubeClient
let events: Occurrence[]
let writes = 0
/** Which ConfigMaps an informer would select. */
let selector = ''

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ listen: false, clock })
  client = createClient({
    clock,
    transport: {
      send: (request) => {
        if (request.method !== 'GET') writes += 1
        return cluster.handle(request)
      },
      close: async () => undefined,
    },
  })
  await client.create(CustomResourceDefinitions, crdManifest(GadgetCrd))
  await create('a', 'b', 'c')
  events = []
  selector = ''
})
afterEach(() => cluster.stop())

const create = (...parts: string[]) =>
  client.create(Gadgets, { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: key, spec: { parts } })
const edit = (...parts: string[]) => client.patch(Gadgets, key, { type: 'merge', patch: { spec: { parts } } })

/** A view that is as fresh as the server. */
async function lookNow(readsSecrets = true): Promise<CacheReader> {
  const lists = new Map<Resource, readonly Stored<KubeObject>[]>()
  for (const resource of readsSecrets ? [Gadgets, ConfigMaps, Secrets] : [Gadgets, ConfigMaps])
    lists.set(resource, (await client.listAll(resource)).items)
  const list = <T extends KubeObject>(resource: Resource<T>, options: { labelSelector?: string } = {}) =>
    (lists.get(resource) ?? [])
      .filter(labelMatcher(options.labelSelector ?? ''))
      .filter((object) =>
        resource.kind === 'ConfigMap' ? labelMatcher(selector)(object) : true,
      ) as readonly Stored<KubeObject>[] as readonly Stored<T>[]
  return {
    list,
    get: (resource, { name, namespace }: ObjectKey) =>
      list(resource).find(({ metadata }) => metadata.name === name && metadata.namespace === namespace),
    ownedBy: (resource, uid) => list(resource).filter((object) => controllerOf(object)?.uid === uid),
    byIndex: () => [],
    selects: (resource, object) => resource.kind !== 'ConfigMap' || labelMatcher(selector)(object),
  }
}

/** One engine that remembers what it has seen, as in a controller. */
function engineFor(components: readonly AnyComponent<Gadget>[], options: Partial<ComponentOptions<Gadget>> = {}) {
  const run = reconcileComponents<Gadget, undefined>({
    resource: Gadgets,
    owned: [ConfigMaps],
    fieldManager: 'gadgets',
    components,
    ...options,
  })
  return async ({ readsSecrets = true, view }: { readsSecrets?: boolean; view?: CacheReader } = {}) => {
    const cache = view ?? (await lookNow(readsSecrets))
    const result = await run({
      key,
      object: cache.get(Gadgets, key),
      reasons: [],
      attempt: 1,
      reconcileId: 'test',
      client,
      cache,
      logger: silentLogger,
      clock,
      signal: new AbortController().signal,
      events: { record: (_object, occurrence) => void events.push(occurrence) },
      watches: noRuntimeWatches,
      stage: (_name, part) => part(),
    })
    return result ?? {}
  }
}

const reconcile = (
  components: readonly AnyComponent<Gadget>[],
  options: Partial<ComponentOptions<Gadget>> = {},
): Promise<ReconcileResult> => engineFor(components, options)()

const configMap = (name: string, data: Record<string, string> = {}) =>
  desired(ConfigMaps, { metadata: { namespace: 'default', name }, data })
const part = (name: string, extra: Partial<Part> = {}): Part => ({
  name,
  isEnabled: ({ spec }) => spec.parts.includes(name),
  render: () => [configMap(name)],
  ...extra,
})
const names = async () =>
  (await client.listAll(ConfigMaps, { namespace: 'default' })).items
    .map(({ metadata }) => metadata.name)
    .filter((name) => name !== 'kube-root-ca.crt')
const status = async () => (await client.get(Gadgets, key)).status

describe('components', () => {
  it('run in the order of their needs, each after those before it are applied', async () => {
    const order: string[] = []
    const a = part('a', {
      resolve: () => {
        order.push('a')
        return { size: 3 }
      },
      render: ({ facts }) => [configMap('a', { size: String((facts as { size: number }).size) })],
    })
    const b = part('b', {
      needs: [a],
      resolve: async ({ factsOf, client: reader }) => {
        order.push('b')
        const { data } = await reader.get(ConfigMaps, { namespace: 'default', name: 'a' })
        return { fromFacts: (factsOf(a) as { size: number }).size, fromCluster: data?.size }
      },
      render: ({ facts }) => [configMap('b', { text: JSON.stringify(facts) })],
    })
    await reconcile([b, a])
    expect(order).toEqual(['a', 'b'])
    expect((await client.get(ConfigMaps, { namespace: 'default', name: 'b' })).data?.text).toBe(
      '{"fromFacts":3,"fromCluster":"3"}',
    )
  })

  it('render objects that the controller decorates before they are applied', async () => {
    await reconcile([part('a'), part('b')], {
      decorate: (wanted, { metadata }) => {
        const labels = { decorated: metadata.name }
        return { ...wanted, object: { ...wanted.object, metadata: { ...wanted.object.metadata, labels } } }
      },
    })
    for (const name of ['a', 'b']) {
      const { metadata } = await client.get(ConfigMaps, { namespace: 'default', name })
      expect(metadata.labels).toEqual({ decorated: 'g' })
    }
  })

  it('write nothing when nothing changed', async () => {
    const parts = [part('a'), part('b', { report: (_outcome, reporter) => reporter.update({ note: 'b is here' }) })]
    await reconcile(parts)
    const before = writes
    await reconcile(parts)
    expect(writes).toBe(before)
  })

  it('that are disabled lose their objects and conditions, others do not', async () => {
    const a = part('a', {
      conditions: ['AReady'],
      report: ({ state }, reporter) => {
        if (state === 'done') reporter.setCondition({ type: 'AReady', status: 'True', reason: 'Here' })
      },
    })
    await reconcile([a, part('b')])
    expect((await status())?.conditions).toMatchObject([{ type: 'AReady', status: 'True' }])
    await edit('b')
    await reconcile([a, part('b')])
    expect(await names()).toEqual(['b'])
    expect((await status())?.conditions).toEqual([])
  })

  it('that fail take down only those that need them', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('no answer')) })
    const b = part('b', { needs: [a] })
    await expect(reconcile([a, b, part('c')])).rejects.toThrow('no answer')
    expect(await names()).toEqual(['c'])
  })

  it('that fail are reported before the failure is thrown, each failure once', async () => {
    const broken = part('a', {
      render: () => {
        throw new Error('bad spec')
      },
    })
    const report: ComponentOptions<Gadget>['report'] = ({ failures, outcomes, isReady }) => ({
      status: {
        phase: isReady ? 'Ready' : 'Error',
        note: `${failures.map(({ message }) => message).join()}: ${outcomes.map(({ name, state }) => `${name} ${state}`).join()}`,
      },
    })
    await expect(reconcile([broken, part('b', { needs: [broken] })], { report })).rejects.toThrow('bad spec')
    expect(await status()).toEqual({ phase: 'Error', note: 'bad spec: a failed,b failed' })
  })

  it('that wait keep their objects, and everything else continues', async () => {
    await reconcile([part('a'), part('b')])
    await edit('a', 'c')
    const a = part('a', {
      resolve: () => waiting('an address', { requeueAfterMs: 5_000 }),
      mayOwn: () => [{ resource: ConfigMaps, name: 'a' }],
    })
    expect(await reconcile([a, part('b'), part('c')])).toEqual({ requeueAfterMs: 5_000 })
    expect(await names()).toEqual(['a', 'c'])
  })

  it('that wait without saying what they own keep everything', async () => {
    await reconcile([part('a'), part('b')])
    await edit('a')
    await reconcile([part('a', { render: () => waiting('an address') }), part('b')])
    expect(await names()).toEqual(['a', 'b'])
  })

  it('continue with the facts they had, and the failure is still reported', async () => {
    const a = part('a', {
      resolve: () => fallback({ token: 'old' }, new Error('the service is unavailable')),
      render: ({ facts }) => [configMap('a', facts as Record<string, string>)],
    })
    await expect(reconcile([a, part('b', { needs: [a] })])).rejects.toThrow('the service is unavailable')
    expect(await names()).toEqual(['a', 'b'])
    expect((await client.get(ConfigMaps, { namespace: 'default', name: 'a' })).data).toEqual({ token: 'old' })
  })

  it('that come after another one run although that fails', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('away')) })
    const b = part('b', { after: [a], resolve: ({ factsOf }) => ({ known: factsOf(a) }) })
    await expect(reconcile([b, a])).rejects.toThrow('away')
    expect(await names()).toEqual(['b'])
  })

  it('keep what was written before one of their objects failed', async () => {
    await client.create(ConfigMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: 'foreign' },
      data: { theirs: 'yes' },
    })
    const a = part('a', { render: () => [configMap('first'), configMap('foreign'), configMap('last')] })
    await expect(reconcile([a, part('b')])).rejects.toThrow('foreign already exists and is not controlled by')
    expect(await names()).toEqual(['b', 'first', 'foreign'])
  })

  it('see the status that others reported before them', async () => {
    const a = part('a', { resolve: ({ reporter }) => void reporter.update({ note: 'from a' }) })
    const b = part('b', { needs: [a], render: ({ primary }) => [configMap('b', { note: primary.status?.note ?? '' })] })
    await reconcile([a, b])
    expect((await client.get(ConfigMaps, { namespace: 'default', name: 'b' })).data).toEqual({ note: 'from a' })
    expect((await status())?.note).toBe('from a')
  })

  it('may not render one object twice', async () => {
    await expect(reconcile([part('a'), part('b', { render: () => [configMap('a')] })])).rejects.toThrow(
      'ConfigMap default/a is desired twice',
    )
  })

  it('are rejected at the start when they are invalid', () => {
    const about = { resource: Gadgets, owned: [], fieldManager: 'gadgets' }
    const build = (...components: Part[]) => reconcileComponents<Gadget, undefined>({ ...about, components })
    const a: Part = { name: 'a', conditions: ['Ready'] }
    expect(() => build(a, { name: 'a' })).toThrow(InvalidComponentsError)
    expect(() => build({ name: 'b', needs: [a] })).toThrow('component "b" needs "a", which is not listed')
    expect(() => build(a, { name: 'b', conditions: ['Ready'] })).toThrow('two components have the condition "Ready"')
    expect(() => build({ name: 'dns', finalize: async () => undefined })).toThrow('no finalizer is set')
    const circle: { name: string; needs: Part[] } = { name: 'c', needs: [] }
    circle.needs.push({ name: 'd', needs: [circle] })
    expect(() => build(circle, ...circle.needs)).toThrow('components depend on each other in a cycle: c → d → c')
  })
})

describe('objects that the cache would not show', () => {
  it('are rejected when they are rendered', async () => {
    selector = 'app=gadget'
    await expect(reconcile([part('a')])).rejects.toThrow(/ConfigMap default\/a is not selected by the informer/)
    expect(await names()).toEqual([])
  })

  it('are healed when they are ours and lost the label', async () => {
    selector = 'app=gadget'
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
    await client.patch(
      ConfigMaps,
      { namespace: 'default', name: 'a' },
      {
        type: 'merge',
        patch: { metadata: { labels: { app: null } } },
      },
    )
    await reconcile([labelled('two')])
    const { metadata, data } = await client.get(ConfigMaps, { namespace: 'default', name: 'a' })
    expect([metadata.labels, data]).toEqual([{ app: 'gadget' }, { text: 'two' }])
  })
})

describe('objects in other namespaces', () => {
  const elsewhere = [{ resource: Secrets, label: 'gadget', labelValue: ({ name }: ObjectKey) => name }]
  const copy = (namespace: string) =>
    desired(Secrets, { metadata: { namespace, name: 'copy' }, data: { token: 'c2VjcmV0' } })
  const copies = async () =>
    (await client.listAll(Secrets)).items
      .filter(({ metadata }) => metadata.name === 'copy')
      .map(({ metadata }) => metadata.namespace)

  it('are applied, pruned, and deleted after the resource is deleted', async () => {
    const inNamespaces = (...namespaces: string[]) => part('a', { render: () => namespaces.map(copy) })
    await reconcile([inNamespaces('kube-system', 'kube-public')], { elsewhere })
    expect(await copies()).toEqual(['kube-public', 'kube-system'])
    const before = writes
    await reconcile([inNamespaces('kube-system', 'kube-public')], { elsewhere })
    expect(writes).toBe(before)
    await reconcile([inNamespaces('kube-public')], { elsewhere })
    expect(await copies()).toEqual(['kube-public'])
    await client.delete(Gadgets, key)
    await reconcile([inNamespaces('kube-public')], { elsewhere })
    expect(await copies()).toEqual([])
  })

  it('are kept where their kind says that the view is not sufficient, until the resource is deleted', async () => {
    const isKnown = ({ metadata }: KubeObject) => metadata.namespace !== 'kube-system'
    const careful = elsewhere.map((kind) => ({ ...kind, isPrunable: isKnown }))
    await reconcile([part('a', { render: () => ['kube-system', 'kube-public'].map(copy) })], { elsewhere: careful })
    await reconcile([part('a', { render: () => [] })], { elsewhere: careful })
    expect(await copies()).toEqual(['kube-system'])
    await client.delete(Gadgets, key)
    await reconcile([part('a', { render: () => [] })], { elsewhere: careful })
    expect(await copies()).toEqual([])
  })

  it('of other owners are not changed', async () => {
    const { apiVersion, kind } = { apiVersion: 'v1', kind: 'Secret' }
    await client.create(Secrets, { apiVersion, kind, metadata: { namespace: 'kube-public', name: 'copy' } })
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
    (await client.listAll(Secrets, { namespace: 'default' })).items.some(({ metadata }) => metadata.name === 'made')

  it('are pruned once they are no longer desired, although that fails at first', async () => {
    const reconcileAll = engineFor([part('a', { render: () => [secret()] })], { onDemand })
    await reconcileAll()
    expect(await made()).toBe(true)
    await edit('b')
    cluster.faults.inject({ verb: 'delete', resource: 'secrets' }, { kind: 'status', code: 403 }, { times: 1 })
    await expect(reconcileAll()).rejects.toThrow()
    expect(await made()).toBe(true)
    await reconcileAll()
    expect(await made()).toBe(false)
  })

  it('fail only those who render them when the cluster does not serve them', async () => {
    cluster.faults.inject({ verb: 'list', resource: 'secrets' }, { kind: 'status', code: 404 }, { times: 2 })
    const reconcileAll = engineFor([part('a', { render: () => [secret()] }), part('b')], { onDemand })
    await expect(reconcileAll({ readsSecrets: false })).rejects.toThrow('install Secrets first')
    expect(await names()).toEqual(['b'])
  })
})

describe('an effect outside the cluster', () => {
  /** Creates something outside that only a finalizer would delete. */
  function outside() {
    const created: string[] = []
    const a = part('a', {
      resolve: async ({ primary, requireLivePrimary }) => {
        await requireLivePrimary()
        created.push(primary.metadata.uid)
      },
    })
    return { created, run: engineFor([a]) }
  }

  it('happens for a resource that exists as the view shows it', async () => {
    const { created, run } = outside()
    await run()
    expect(created).toHaveLength(1)
  })

  it('does not happen for a resource that an old view still shows', async () => {
    const { created, run } = outside()
    const view = await lookNow()
    await client.delete(Gadgets, key)
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    await create('a')
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    expect(created).toEqual([])
  })

  it('does not happen for a resource that is being deleted', async () => {
    const { created, run } = outside()
    await client.patch(Gadgets, key, { type: 'merge', patch: { metadata: { finalizers: ['example.com/other'] } } })
    const view = await lookNow()
    await client.delete(Gadgets, key)
    await expect(run({ view })).rejects.toThrow(StaleViewError)
    expect(created).toEqual([])
  })
})

describe('a finalizer', () => {
  const finalizer = 'example.com/gadget'
  const removal = () => client.delete(Gadgets, key)

  it('keeps the resource until every component has finalized, in reverse order', async () => {
    const order: string[] = []
    let isWaiting = true
    const a = part('a', {
      finalize: async () => {
        order.push('a')
        return undefined
      },
    })
    const b = part('b', {
      needs: [a],
      finalize: async () => {
        order.push('b')
        return isWaiting ? waiting('the record to go', { requeueAfterMs: 1_000 }) : undefined
      },
    })
    await reconcile([a, b], { finalizer })
    await removal()
    expect(await reconcile([a, b], { finalizer })).toEqual({ requeueAfterMs: 1_000 })
    expect(order).toEqual(['b'])
    isWaiting = false
    await reconcile([a, b], { finalizer })
    expect(order).toEqual(['b', 'b', 'a'])
    await expect(client.get(Gadgets, key)).rejects.toThrow('not found')
  })

  it('on an old view cleans up nothing of the resource that has the name now', async () => {
    let cleanups = 0
    const finalize = async () => {
      cleanups += 1
      return undefined
    }
    const run = engineFor([part('a', { finalize })], { finalizer })
    await run()
    await removal()
    const view = await lookNow()
    await run()
    await create('a')
    expect(cleanups).toBe(1)
    await run({ view })
    expect(cleanups).toBe(1)
    expect((await client.get(Gadgets, key)).metadata.deletionTimestamp).toBeUndefined()
  })

  it('that fails shows in the status', async () => {
    const a = part('a', {
      finalize: () => Promise.reject(new Error('the zone is locked')),
      report: ({ failure }, reporter) => reporter.update({ note: failure?.message ?? 'fine' }),
    })
    await reconcile([a], { finalizer })
    await removal()
    await expect(reconcile([a], { finalizer })).rejects.toThrow('the zone is locked')
    expect((await status())?.note).toBe('the zone is locked')
  })

  it('is not set for components that are disabled', async () => {
    await edit('b')
    await reconcile([part('a', { finalize: async () => undefined })], { finalizer })
    expect((await client.get(Gadgets, key)).metadata.finalizers).toBeUndefined()
  })
})

describe('the report', () => {
  it('can settle a failure itself', async () => {
    const a = part('a', { resolve: () => Promise.reject(new Error('taken by another owner')) })
    const report = () => ({ isHandled: true, requeueAfterMs: 60_000 })
    expect(await reconcile([a], { report })).toEqual({ requeueAfterMs: 60_000 })
  })

  it('records its events after the status is written', async () => {
    const report: ComponentOptions<Gadget>['report'] = ({ changes }) => ({
      events: changes.map(({ type, object }) => ({ reason: 'Applied', message: `${type} ${object.metadata.name}` })),
    })
    await reconcile([part('a')], { report })
    expect(events).toEqual([{ reason: 'Applied', message: 'created a' }])
  })
})

describe('effects outside', () => {
  it('can be put on record in the status before they happen', async () => {
    let seen: unknown
    const a = part('a', {
      resolve: async ({ reporter, writeStatus }) => {
        reporter.update({ phase: 'Installing' })
        await writeStatus()
        seen = await status()
        reporter.update({ phase: 'Installed' })
      },
    })
    await reconcile([a])
    expect([seen, await status()]).toEqual([{ phase: 'Installing' }, { phase: 'Installed' }])
  })

  it('do not happen for a deleted resource', async () => {
    let hasActed = false
    const a = part('a', {
      resolve: async ({ reporter, writeStatus }) => {
        await client.delete(Gadgets, key)
        reporter.update({ phase: 'Installing' })
        await writeStatus()
        hasActed = true
      },
    })
    await expect(reconcile([a])).rejects.toThrow(StaleViewError)
    expect(hasActed).toBe(false)
  })

  it('do not happen for a deleted resource whose status already says that they do', async () => {
    const install: Part['resolve'] = async ({ reporter, writeStatus }) => {
      reporter.update({ phase: 'Installing' })
      await writeStatus()
    }
    await reconcile([part('a', { resolve: install })])
    let hasActed = false
    const a = part('a', {
      resolve: async (context) => {
        await client.delete(Gadgets, key)
        await install(context)
        hasActed = true
      },
    })
    await expect(reconcile([a])).rejects.toThrow(StaleViewError)
    expect(hasActed).toBe(false)
  })

  it('are limited by the rights of the account that they are done as', async () => {
    const a = part('a', {
      resolve: ({ clientAs }) => clientAs({ user: 'jane' }).get(ConfigMaps, { namespace: 'default', name: 'secret' }),
    })
    await expect(reconcile([a])).rejects.toThrow(/User "jane" cannot get/)
  })
})

describe('an object that is only created', () => {
  const kept = () => desired(Namespaces, { metadata: { name: 'tenant', labels: { by: 'us' } } }, { createOnly: true })

  it('is never changed afterwards', async () => {
    const engine = engineFor([part('a', { render: () => [kept()] })])
    await engine()
    expect((await client.get(Namespaces, { name: 'tenant' })).metadata).not.toHaveProperty('ownerReferences')
    await client.patch(
      Namespaces,
      { name: 'tenant' },
      { type: 'merge', patch: { metadata: { labels: { by: 'you' } } } },
    )
    await engine()
    await edit('b')
    await engine()
    expect((await client.get(Namespaces, { name: 'tenant' })).metadata.labels).toMatchObject({ by: 'you' })
  })
})
