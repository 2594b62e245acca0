/** The operator over TLS, with its webhooks and the real kubectl, on the embedded or a real cluster. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { runCaptured } from '@reeve/cli/testing'
import { findClientBinary } from '@reeve/client-binaries'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { crdManifest } from '@reeve/crd'
import { sleep } from '@reeve/http'
import {
  CustomResourceDefinitions,
  connect,
  Deployments,
  type KubeClient,
  MutatingWebhookConfigurations,
  Secrets,
  Services,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../src/cli/main.ts'
import {
  createWebAppOperator,
  type Phase,
  type WebApp,
  WebAppCrd,
  type WebAppOperator,
  WebApps,
  webAppOperator,
} from '../src/index.ts'
import { written } from '../src/testing/webapp.ts'

const CONFIGURATION = 'webapp-operator-test'
const PATIENCE_MS = 60_000

let cluster: ClusterUnderTest
let client: KubeClient
let namespace: string
let operator: WebAppOperator
let running: Promise<void>
const stop = new AbortController()

beforeAll(async () => {
  cluster = await openCluster()
  client = await connect({ kubeconfig: cluster.kubeconfigPath, fieldManager: 'test' })
  namespace = await cluster.createNamespace()
  const manifest = crdManifest(WebAppCrd)
  await client.apply(CustomResourceDefinitions, manifest, { force: true })
  await until(async () => {
    const { status } = await client.get(CustomResourceDefinitions, { name: WebAppCrd.name })
    return status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false
  })
  operator = createWebAppOperator({
    client,
    namespaces: [namespace],
    leaderElection: { lease: { namespace, name: 'webapp-operator' }, identity: 'test' },
    webhook: {
      address: { host: '127.0.0.1', port: 0 },
      certificate: { secret: { namespace, name: 'certificate' }, hosts: ['127.0.0.1'] },
      inject: { mutating: [CONFIGURATION], validating: [CONFIGURATION] },
    },
  })
  running = operator.manager.run(stop.signal)
  running.catch(() => undefined)
  await register('Fail')
  // The API server uses a new webhook configuration a moment after it is written.
  await until(async () => (await attempt(written('probe', { image: 'no-tag' }))).includes('denied'))
})

afterAll(async () => {
  stop.abort()
  await running
  for (const resource of [MutatingWebhookConfigurations, ValidatingWebhookConfigurations]) {
    await client.delete(resource as typeof MutatingWebhookConfigurations, { name: CONFIGURATION })
  }
  await client.close()
  await cluster.close()
})

async function register(failurePolicy: 'Fail' | 'Ignore', url?: string): Promise<void> {
  const address = await operator.webhooks?.server.address()
  const location = { url: url ?? `https://127.0.0.1:${address?.port}` }
  const configurations = webAppOperator.webhookConfigurations({ location, name: CONFIGURATION, failurePolicy })
  const { mutating, validating } = configurations
  if (mutating) await client.apply(MutatingWebhookConfigurations, mutating, { force: true })
  if (validating) await client.apply(ValidatingWebhookConfigurations, validating, { force: true })
  await operator.webhooks?.certificates?.check(stop.signal)
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(PATIENCE_MS)
  while (!(await condition())) await sleep(50, { signal: deadline })
}

const inNamespace = (webapp: WebApp): WebApp => ({ ...webapp, metadata: { ...webapp.metadata, namespace } })
const create = (webapp: WebApp) => client.create(WebApps, inNamespace(webapp))
const get = (name: string) => client.get(WebApps, { namespace, name })

/** The refusal's message, or nothing. A WebApp that got in is removed. */
async function attempt(webapp: WebApp): Promise<string> {
  try {
    const { metadata } = await create(webapp)
    await client.delete(WebApps, { namespace, name: metadata.name })
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function untilPhase(name: string, phase: Phase): Promise<WebApp> {
  let last: WebApp | undefined
  await until(async () => {
    last = await get(name)
    return last.status?.phase === phase
  }).catch((error: unknown) => {
    throw new Error(`WebApp ${name} is ${JSON.stringify(last?.status)} instead of ${phase}`, { cause: error })
  })
  return get(name)
}

describe('at the door', () => {
  it.each([
    ['an image without a tag', { image: 'nginx' }, /spec\.image: "nginx" has neither tag nor digest/],
    ['an invalid image', { image: 'Not An Image' }, /spec\.image: "Not An Image" is not an image reference/],
    ['too many replicas', { replicas: 1001 }, /spec\.replicas/],
    ['a port out of range', { port: 70000 }, /spec\.port/],
  ])('%s is refused with the field and the remedy', async (_, spec, message) => {
    expect(await attempt(written('refused', spec))).toMatch(message)
  })

  it('fills in defaults and a label', async () => {
    const { metadata, spec } = await create(written('complete', { replicas: 0 }))
    expect(spec).toMatchObject({ port: 8080, service: { type: 'ClusterIP', port: 80 } })
    expect(metadata.labels).toEqual({ 'app.kubernetes.io/part-of': 'complete' })
    await client.delete(WebApps, { namespace, name: 'complete' })
  })

  it('recovers when its certificate is deleted', async () => {
    const before = operator.webhooks?.certificates?.bundle
    await client.delete(Secrets, { namespace, name: 'certificate' })
    await operator.webhooks?.certificates?.check(stop.signal)
    expect(operator.webhooks?.certificates?.bundle).not.toBe(before)
    await until(async () => (await attempt(written('recovered', { replicas: 0 }))) === '')
  })
})

describe('in the cluster', () => {
  it('runs a WebApp, scales it with kubectl, heals it and cleans up', async () => {
    await create(written('shop'))
    await untilPhase('shop', 'Ready')
    const kubectl = await findClientBinary('kubectl')
    if (kubectl !== undefined) {
      const flags = ['--kubeconfig', cluster.kubeconfigPath, '-n', namespace]
      const { stdout } = await promisify(execFile)(kubectl, [...flags, 'get', 'webapps', 'shop', '--no-headers'])
      expect(stdout).toMatch(/^shop\s+Ready\s+2\s+2\s+nginx:1\.29/)
      await promisify(execFile)(kubectl, [...flags, 'scale', 'webapp', 'shop', '--replicas=3'])
    } else {
      await client.patch(WebApps, { namespace, name: 'shop' }, { type: 'merge', patch: { spec: { replicas: 3 } } })
    }
    await until(async () => (await get('shop')).status?.availableReplicas === 3)
    await client.patch(Deployments, { namespace, name: 'shop' }, { type: 'merge', patch: { spec: { replicas: 9 } } })
    await until(async () => (await client.get(Deployments, { namespace, name: 'shop' })).spec?.replicas === 3)
    await client.delete(WebApps, { namespace, name: 'shop' })
    await until(async () => {
      const lists = await Promise.all([
        client.listAll(Deployments, { namespace }),
        client.listAll(Services, { namespace }),
      ])
      return lists.every(({ items }) => items.length === 0)
    })
  })

  it('is paused by annotation, and plans what it would do with a WebApp', async () => {
    const key = { namespace, name: 'quiet' }
    const plan = (...args: readonly string[]) =>
      runCaptured(main, ['plan', '--kubeconfig', cluster.kubeconfigPath, '-n', namespace, 'quiet', ...args])
    await create(written('quiet', { replicas: 1 }))
    await untilPhase('quiet', 'Ready')
    expect(await plan()).toEqual({ code: 0, stderr: '', stdout: 'No changes. 2 are unchanged.\n' })
    const annotate = (value: string | null) =>
      client.patch(WebApps, key, { type: 'merge', patch: { metadata: { annotations: { 'reeve.dev/paused': value } } } })
    await annotate('true')
    await until(async () => (await get('quiet')).status?.conditions?.some(({ type }) => type === 'Paused') ?? false)
    // A manual change stays while the WebApp is paused, and is reverted afterwards.
    await client.patch(Deployments, key, { type: 'merge', patch: { spec: { replicas: 2 } } })
    const paused = await plan()
    expect([paused.code, paused.stdout]).toEqual([0, expect.stringContaining('is paused by the annotation')])
    expect((await client.get(Deployments, key)).spec?.replicas).toBe(2)
    await annotate(null)
    await until(async () => (await client.get(Deployments, key)).spec?.replicas === 1)
    expect((await get('quiet')).status?.conditions?.some(({ type }) => type === 'Paused')).toBe(false)
    await client.delete(WebApps, key)
  })

  it('does not adopt a Service that it did not create, and reports the conflict', async () => {
    await client.create(Services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'taken', namespace },
      spec: { selector: { app: 'theirs' }, ports: [{ port: 80 }] },
    })
    await create(written('taken'))
    const { status } = await untilPhase('taken', 'Degraded')
    expect(status?.conditions?.find(({ type }) => type === 'Degraded')).toMatchObject({ reason: 'NotControlled' })
    expect((await client.get(Services, { namespace, name: 'taken' })).spec?.selector).toEqual({ app: 'theirs' })
    await client.delete(WebApps, { namespace, name: 'taken' })
  })

  it('reports a WebApp that was admitted while no webhook was available, without touching its objects', async () => {
    await create(written('slip', { replicas: 1 }))
    await untilPhase('slip', 'Ready')
    await register('Ignore', 'https://127.0.0.1:1')
    await until(async () => {
      const patch = { spec: { image: 'no-tag' } }
      return client.patch(WebApps, { namespace, name: 'slip' }, { type: 'merge', patch }).then(
        () => true,
        () => false,
      )
    })
    const { status } = await untilPhase('slip', 'Degraded')
    const condition = status?.conditions?.find(({ type }) => type === 'Degraded')
    expect(condition).toMatchObject({ status: 'True', reason: 'InvalidSpec' })
    expect(condition?.message).toMatch(/spec\.image: "no-tag" has neither tag nor digest/)
    const { spec } = await client.get(Deployments, { namespace, name: 'slip' })
    expect(spec?.template.spec?.containers[0]?.image).toBe('nginx:1.29')
  })
})
