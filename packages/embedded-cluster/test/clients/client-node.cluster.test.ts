/** The official JavaScript client, unmodified: typed calls, informers and server-side apply. */
import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  type V1ConfigMap,
} from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ClientSession } from './support/client-session.ts'

describe('@kubernetes/client-node', () => {
  let session: ClientSession
  let config: KubeConfig
  let core: CoreV1Api
  let namespace: string

  beforeAll(async () => {
    session = await ClientSession.open()
    namespace = session.namespace
    config = new KubeConfig()
    config.loadFromFile(session.kubeconfigPath)
    core = config.makeApiClient(CoreV1Api)
  })
  afterAll(() => session?.close())

  const configMap = (name: string, value: string, labels: Record<string, string> = {}): V1ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels },
    data: { value },
  })

  test('an informer delivers existing, added, changed and deleted objects', async () => {
    const labels = { set: 'informer' }
    const labelSelector = 'set=informer'
    await core.createNamespacedConfigMap({ namespace, body: configMap('first', '1', labels) })
    const informer = makeInformer<V1ConfigMap>(
      config,
      `/api/v1/namespaces/${namespace}/configmaps`,
      () => core.listNamespacedConfigMap({ namespace, labelSelector }),
      labelSelector,
    )
    const seen: string[] = []
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(verb, ({ metadata, data }) => {
        seen.push(`${verb} ${metadata?.name} ${data?.value}`)
      })
    }
    const errors: unknown[] = []
    informer.on('error', (error) => {
      errors.push(error)
    })
    await informer.start()
    try {
      await core.createNamespacedConfigMap({ namespace, body: configMap('second', '1', labels) })
      await core.createNamespacedConfigMap({ namespace, body: configMap('unseen', '1') })
      await core.replaceNamespacedConfigMap({ namespace, name: 'first', body: configMap('first', '2', labels) })
      await core.deleteNamespacedConfigMap({ namespace, name: 'second' })
      const expected = ['add first 1', 'add second 1', 'update first 2', 'delete second 1']
      await expect.poll(() => seen, { timeout: 20_000 }).toEqual(expected)
      expect(informer.get('first', namespace)?.data).toEqual({ value: '2' })
      expect(informer.list().map(({ metadata }) => metadata?.name)).toEqual(['first'])
      expect(errors).toEqual([])
    } finally {
      await informer.stop()
    }
  })

  test('errors contain the status of the server', async () => {
    const failure = await core.readNamespacedConfigMap({ namespace, name: 'nobody' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 404 })
    expect(JSON.parse((failure as { body: string }).body)).toMatchObject({ kind: 'Status', reason: 'NotFound' })
  })

  test('objects of any kind are created, applied, read and deleted', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config)
    await objects.create(configMap('generic', '1'))
    const applied = { ...configMap('generic', '2'), metadata: { name: 'generic', namespace } }
    await objects.patch(applied, undefined, undefined, 'me', true, PatchStrategy.ServerSideApply)
    const metadata = { name: 'generic', namespace }
    expect(await objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata })).toMatchObject({
      data: { value: '2' },
    })
    await objects.delete({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await expect(objects.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata })).rejects.toMatchObject({ code: 404 })
  })

  test('a workload is created with typed values and becomes ready', async () => {
    const apps = config.makeApiClient(AppsV1Api)
    const labels = { app: 'typed' }
    await apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: 'typed' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
        },
      },
    })
    await expect
      .poll(async () => (await apps.readNamespacedDeployment({ namespace, name: 'typed' })).status?.readyReplicas, {
        timeout: 20_000,
      })
      .toBe(1)
    const { metadata } = await apps.readNamespacedDeployment({ namespace, name: 'typed' })
    expect(metadata?.creationTimestamp).toBeInstanceOf(Date)
  })
})
