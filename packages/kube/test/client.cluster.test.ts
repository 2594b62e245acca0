/** The client against a whole API server, over TLS. Passes on the embedded cluster and on a real one. */
import { sleep } from '@reeve/http'
import {
  type ConfigMap,
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  type Deployment,
  Deployments,
  isAlreadyExists,
  isApplyConflict,
  isBadRequest,
  isConflict,
  isInvalid,
  isNotFound,
  isNotServed,
  type KubeObject,
  resource,
  type Scale,
  UnknownKindError,
  type WatchEvent,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

let cluster: TestCluster
beforeAll(async () => {
  cluster = await openTestCluster()
})
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
})

const caught = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)

function configMap(name: string, data: Record<string, string> = {}, labels?: Record<string, string>): ConfigMap {
  const metadata = { namespace: cluster.namespace, name, ...(labels && { labels }) }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data }
}

function deployment(name: string, replicas: number): Deployment {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: cluster.namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] } },
    },
  }
}

const keyOf = (name: string) => ({ namespace: cluster.namespace, name })

describe('objects', () => {
  it('are created, read, updated and deleted', async () => {
    const { client } = cluster
    const created = await client.create(ConfigMaps, configMap('life', { a: '1' }))
    expect(created.metadata.uid).not.toBe('')
    await client.update(ConfigMaps, { ...created, data: { a: '2' } })
    expect((await client.get(ConfigMaps, keyOf('life'))).data).toEqual({ a: '2' })
    await client.delete(ConfigMaps, keyOf('life'))
    const error = await caught(client.get(ConfigMaps, keyOf('life')))
    expect(isNotFound(error)).toBe(true)
    expect(isNotServed(error)).toBe(false)
    expect(String(error)).toContain(`get configmaps "${cluster.namespace}/life": 404 NotFound`)
  })

  it('are not created twice, and not overwritten from a stale copy', async () => {
    const { client } = cluster
    const old = await client.create(ConfigMaps, configMap('versions'))
    expect(isAlreadyExists(await caught(client.create(ConfigMaps, configMap('versions'))))).toBe(true)
    await client.update(ConfigMaps, { ...old, data: { by: 'somebody' } })
    expect(isConflict(await caught(client.update(ConfigMaps, { ...old, data: { by: 'me' } })))).toBe(true)
  })

  it('are only deleted if the precondition matches', async () => {
    const { client } = cluster
    const created = await client.create(ConfigMaps, configMap('precious'))
    const wrong = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } }
    expect(isConflict(await caught(client.delete(ConfigMaps, keyOf('precious'), wrong)))).toBe(true)
    const { uid, resourceVersion } = created.metadata
    await client.delete(ConfigMaps, keyOf('precious'), { preconditions: { uid, resourceVersion } })
    expect(isNotFound(await caught(client.get(ConfigMaps, keyOf('precious'))))).toBe(true)
  })

  it('are rejected with the invalid fields', async () => {
    const error = await caught(cluster.client.create(ConfigMaps, configMap('Not_A_Name')))
    expect(isInvalid(error)).toBe(true)
    expect(error).toMatchObject({ causes: [{ field: 'metadata.name' }] })
  })

  it('are not stored by a dry run', async () => {
    const { client } = cluster
    const dry = await client.create(ConfigMaps, configMap('dry'), { dryRun: true })
    expect(dry.metadata.name).toBe('dry')
    expect(isNotFound(await caught(client.get(ConfigMaps, keyOf('dry'))))).toBe(true)
  })

  it('with unknown fields are rejected, accepted with a warning or accepted, as requested', async () => {
    const warnings: string[] = []
    const client = await cluster.connect({ onWarning: ({ text }) => warnings.push(text) })
    const odd = (name: string) => ({ ...configMap(name), colour: 'blue' })
    expect(isBadRequest(await caught(client.create(ConfigMaps, odd('strict'), { fieldValidation: 'Strict' })))).toBe(
      true,
    )
    await client.create(ConfigMaps, odd('ignore'), { fieldValidation: 'Ignore' })
    expect(warnings).toEqual([])
    await client.create(ConfigMaps, odd('warn'), { fieldValidation: 'Warn' })
    expect(warnings).toEqual(['unknown field "colour"'])
  })
})

describe('patches', () => {
  it('change objects with three patch types', async () => {
    const { client } = cluster
    await client.create(ConfigMaps, configMap('patched', { a: '1', b: '1' }))
    const key = keyOf('patched')
    await client.patch(ConfigMaps, key, { type: 'json', patch: [{ op: 'replace', path: '/data/a', value: '2' }] })
    await client.patch(ConfigMaps, key, { type: 'merge', patch: { data: { b: null, c: '3' } } })
    const after = await client.patch(ConfigMaps, key, { type: 'strategic', patch: { data: { d: '4' } } })
    expect(after.data).toEqual({ a: '2', c: '3', d: '4' })
  })

  it('of server-side apply own their fields', async () => {
    const { client } = cluster
    await client.apply(ConfigMaps, configMap('applied', { a: '1', b: '1' }))
    const again = await client.apply(ConfigMaps, configMap('applied', { a: '2' }))
    expect(again.data).toEqual({ a: '2' })
    const other = { fieldManager: 'other' }
    const error = await caught(client.apply(ConfigMaps, configMap('applied', { a: '3' }), other))
    expect(isApplyConflict(error)).toBe(true)
    expect(error).toMatchObject({ causes: [{ field: '.data.a' }] })
    const forced = await client.apply(ConfigMaps, configMap('applied', { a: '3' }), { ...other, force: true })
    expect(forced.data).toEqual({ a: '3' })
  })
})

describe('subresources', () => {
  it('are read and written separately from their object', async () => {
    const { client } = cluster
    await client.create(Deployments, deployment('scaled', 0))
    const status = { type: 'merge', patch: { status: { observedGeneration: 999 } } } as const
    const ignored = await client.patch(Deployments, keyOf('scaled'), status)
    expect(ignored.status?.observedGeneration ?? 0).toBeLessThan(999)
    const scales = resource<Scale>({ ...Deployments })
    const scale = await client.get(scales, keyOf('scaled'), { subresource: 'scale' })
    expect([scale.kind, scale.spec?.replicas ?? 0]).toEqual(['Scale', 0])
    const patch = { type: 'merge', patch: { spec: { replicas: 2 } } } as const
    await client.patch(scales, keyOf('scaled'), patch, { subresource: 'scale' })
    expect((await client.get(Deployments, keyOf('scaled'))).spec?.replicas).toBe(2)
  })
})

describe('collections', () => {
  it('are read page by page, by selector, with types on every item', async () => {
    const { client, namespace } = cluster
    const names = ['page-1', 'page-2', 'page-3', 'page-4', 'page-5']
    for (const name of names) await client.create(ConfigMaps, configMap(name, {}, { suite: 'pages' }))
    const selection = { namespace, labelSelector: 'suite=pages' }
    const first = await client.list(ConfigMaps, { ...selection, limit: 2 })
    expect(first.items).toHaveLength(2)
    expect(first.metadata.continue).toBeTruthy()
    const all = await client.listAll(ConfigMaps, { ...selection, limit: 2 })
    expect(all.items.map((item) => item.metadata.name)).toEqual(names)
    expect(all.items.every((item) => item.kind === 'ConfigMap' && item.apiVersion === 'v1')).toBe(true)
    expect(all.metadata.continue).toBeUndefined()
    const metadata = await client.list(ConfigMaps, { ...selection, metadataOnly: true })
    expect(metadata.items.map((item) => Object.keys(item).toSorted())).toEqual(
      names.map(() => ['apiVersion', 'kind', 'metadata']),
    )
    await client.deleteCollection(ConfigMaps, selection)
    expect((await client.list(ConfigMaps, selection)).items).toEqual([])
  })
})

describe('watches', () => {
  it('resume from a list and deliver every change', async () => {
    const { client, namespace } = cluster
    const selection = { namespace, labelSelector: 'suite=watch' }
    const { metadata } = await client.list(ConfigMaps, selection)
    const seen: string[] = []
    const watching = (async () => {
      for await (const event of client.watch(ConfigMaps, { ...selection, ...metadata })) {
        seen.push(`${event.type} ${'name' in event.object.metadata ? event.object.metadata.name : ''}`)
        if (event.type === 'DELETED') break
      }
    })()
    const created = await client.create(ConfigMaps, configMap('watched', {}, { suite: 'watch' }))
    await client.update(ConfigMaps, { ...created, data: { a: 'ü' } })
    await client.delete(ConfigMaps, keyOf('watched'))
    await watching
    expect(seen).toEqual(['ADDED watched', 'MODIFIED watched', 'DELETED watched'])
  })

  it('send the initial state on request, and mark its end', async () => {
    const { client, namespace } = cluster
    await client.create(ConfigMaps, configMap('initial', {}, { suite: 'initial' }))
    const events: WatchEvent<ConfigMap>[] = []
    const options = {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: true,
    } as const
    for await (const event of client.watch(ConfigMaps, { namespace, labelSelector: 'suite=initial', ...options })) {
      events.push(event)
      if (event.type === 'BOOKMARK') break
    }
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK'])
    expect(events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' })
    expect(events[1]?.object.metadata.resourceVersion).toMatch(/^\d+$/)
  })

  it('end cleanly after the requested timeout', async () => {
    const { client, namespace } = cluster
    const { metadata } = await client.list(ConfigMaps, { namespace })
    const events: unknown[] = []
    for await (const event of client.watch(ConfigMaps, { namespace, ...metadata, timeoutSeconds: 1 }))
      events.push(event)
    expect(events).toEqual([])
  })
})

describe('discovery', () => {
  interface Widget extends KubeObject {
    readonly spec?: { readonly size?: number }
  }
  const group = 'kube-client.example.com'
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }

  it('finds built-in kinds', async () => {
    expect(await cluster.client.resourceFor({ apiVersion: 'apps/v1', kind: 'Deployment' })).toMatchObject({
      group: 'apps',
      plural: 'deployments',
      namespaced: true,
    })
    expect(await cluster.client.resourceFor({ apiVersion: 'v1', kind: 'Node' })).toMatchObject({ namespaced: false })
  })

  it('finds a kind that is installed later', async () => {
    const { client, namespace } = cluster
    const widget: Widget = {
      apiVersion: `${group}/v1`,
      kind: 'Widget',
      metadata: { namespace, name: 'first' },
      spec: { size: 1 },
    }
    await expect(client.resourceFor(widget)).rejects.toThrow(UnknownKindError)
    const undeclared = resource<Widget>({ group, version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true })
    expect(isNotServed(await caught(client.list(undeclared)))).toBe(true)
    await client.apply(CustomResourceDefinitions, definition)
    try {
      const widgets = await served(widget)
      await client.create(widgets, { ...widget })
      expect((await client.get(undeclared, keyOf('first'))).spec?.size).toBe(1)
    } finally {
      await client.delete(CustomResourceDefinitions, { name: definition.metadata.name ?? '' })
    }
  })

  async function served(object: KubeObject) {
    const deadline = AbortSignal.timeout(20_000)
    for (;;) {
      try {
        cluster.client.discovery.invalidate()
        return await cluster.client.resourceFor(object)
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error
        await sleep(100, { signal: deadline })
      }
    }
  }
})

describe('identity', () => {
  it('is the impersonated one, with every group', async () => {
    const client = await cluster.connect({ impersonate: { user: 'jane', groups: ['dev', 'ops'] } })
    const review = await client.raw<{ status: { userInfo: { username: string; groups: string[] } } }>({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
    })
    expect(review.status.userInfo.username).toBe('jane')
    expect(review.status.userInfo.groups).toEqual(expect.arrayContaining(['dev', 'ops']))
  })
})
