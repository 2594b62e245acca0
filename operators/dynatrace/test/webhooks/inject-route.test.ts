/** The webhook for pods under failures of the API server: every pod is admitted, and the reason is reported. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import { connect, Deployments, type KubeClient, type KubeObject, Namespaces, ReplicaSets, Secrets } from '@reeve/kube'
import { createMetricsRegistry, type MetricsRegistry } from '@reeve/runtime/metrics'
import { WebhookRouter } from '@reeve/runtime/webhooks'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { DynaKubes, INJECT_PATH, injectRoute, WorkloadLookup } from '../../src/index.ts'
import { READY, readyDynaKube } from '../../src/webhooks/pods/testing/build.ts'
import { installCrds } from '../support/install-crds.ts'

const OPERATOR = 'dynatrace'
const started = new AsyncDisposableStack()
const requests: string[] = []
let client: KubeClient
let metrics: MetricsRegistry
let events: string[]
let clock: SimulatedClock

beforeAll(async () => {
  const cluster = await startEmbeddedCluster({ nodes: 0 })
  started.defer(() => cluster.stop())
  const folder = await mkdtemp(join(tmpdir(), 'reeve-route-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  client = await connect({
    kubeconfig,
    onRequest: ({ verb, resource, namespace }) => requests.push(`${verb} ${resource} ${namespace ?? ''}`.trim()),
  })
  started.defer(() => client.close())
  await installCrds(client)
  const namespace = (name: string, labels = {}) =>
    client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  await namespace(OPERATOR)
  await namespace('plain')
  for (const name of ['shop', 'crowd']) await namespace(name, { 'dynakube.internal.dynatrace.com/instance': 'dk' })
  const dynakube = readyDynaKube({ oneAgent: { applicationMonitoring: {} }, metadataEnrichment: { enabled: true } })
  await client.create(DynaKubes, dynakube)
  const key = { namespace: OPERATOR, name: 'dk' }
  await client.patch(DynaKubes, key, { type: 'merge', patch: { status: READY } }, { subresource: 'status' })
  const metadata = { namespace: OPERATOR, name: 'dk-bootstrapper-config' }
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: {} })
})
afterAll(() => started.disposeAsync())

beforeEach(async () => {
  metrics = await createMetricsRegistry()
  events = []
  clock = new SimulatedClock()
  requests.length = 0
})

function router(
  options: { readonly isManagedByOlm?: boolean; readonly client?: KubeClient; readonly timeoutMs?: number } = {},
) {
  const reached = options.client ?? client
  const route = injectRoute({
    client: reached,
    namespace: OPERATOR,
    settings: { image: 'operator:1', operatorVersion: '1', hasCsiDriver: true, isOpenShift: false },
    isManagedByOlm: options.isManagedByOlm ?? false,
    events: { record: (_, { reason }) => events.push(reason) },
    workloads: new WorkloadLookup(reached, { clock, metrics }),
    metrics,
    clock,
  })
  return new WebhookRouter([route], { handlerTimeoutMs: options.timeoutMs ?? 9_000 })
}

interface Admitted {
  readonly response: {
    readonly allowed: boolean
    readonly patch?: string
    readonly status?: { readonly code: number; readonly message: string }
  }
}

async function admit(
  namespace: string,
  object: object,
  to = router(),
  { dryRun = false }: { readonly dryRun?: boolean } = {},
): Promise<Admitted['response']> {
  const request = {
    uid: 'uid',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace,
    operation: 'CREATE',
    object,
    dryRun,
  }
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request }
  const { response } = (await to.handle(INJECT_PATH, review)) as Admitted
  return response
}

const pod = (metadata: KubeObject['metadata'] = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'web-', creationTimestamp: null, ...metadata },
  spec: { containers: [{ name: 'app', image: 'a', env: null }] },
})
const counted = async (result: string) =>
  new RegExp(`injections_total\\{result="${result}",reason="(\\w*)"\\} (\\d+)`).exec(await metrics.expose())?.slice(1)

it.each([
  ['its namespace cannot be read', 'nowhere', pod(), /namespace could not be read/],
  ['its namespace has no label', 'plain', pod(), /does not have the label/],
  ['it is garbage', 'shop', { ...pod(), spec: { containers: 'app' } }, /spec\.containers must be a list/],
  ['it is not even an object of Kubernetes', 'shop', { kind: 'Pod' }, /request\.object/],
])('a pod is admitted without a patch and with a message when %s', async (_, namespace, object, message) => {
  const response = await admit(namespace, object)
  expect(response).toEqual({
    uid: 'uid',
    allowed: true,
    status: { code: 200, message: expect.stringMatching(message) },
  })
})

it('a pod without injection is not a failure where the Operator Lifecycle Manager sends all pods', async () => {
  const { status } = await admit('plain', pod(), router({ isManagedByOlm: true }))
  expect(status?.message).toContain('injection is not required')
  expect(await counted('failed')).toBeUndefined()
  expect(await counted('skipped')).toEqual(['', '1'])
})

it('an API server that does not respond delays a pod, and does not keep it', async () => {
  const hanging = { ...client, get: () => new Promise<never>(() => undefined) } as unknown as KubeClient
  const { allowed, patch, status } = await admit('shop', pod(), router({ client: hanging, timeoutMs: 50 }))
  expect({ allowed, patch }).toEqual({ allowed: true, patch: undefined })
  expect(status?.message).toContain('did not decide within 50 ms')
})

it('nulls of a request are handled, and the patch replaces them by lists', async () => {
  const { patch = '' } = await admit('shop', pod())
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as readonly { op: string; path: string }[]
  expect(operations.filter(({ op }) => op !== 'add')).toEqual([])
  expect(operations.map(({ path }) => path)).toContain('/spec/containers/0/env')
  expect(events).toEqual(['Inject'])
  expect(await counted('injected')).toEqual(['', '1'])
})

it('many first pods of a namespace share one copy of the Secret', async () => {
  const to = router()
  const responses = await Promise.all(Array.from({ length: 20 }, () => admit('crowd', pod(), to)))
  expect(responses.filter(({ patch }) => patch !== undefined)).toHaveLength(20)
  const { items } = await client.list(Secrets, { namespace: 'crowd' })
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['dynatrace-bootstrapper-config'])
})

it('pods of one namespace look for its copy once, and one that someone deletes is made again seconds later', async () => {
  const to = router()
  const key = { namespace: 'crowd', name: 'dynatrace-bootstrapper-config' }
  const lookups = () => requests.filter((request) => request === 'create secrets crowd').length
  for (let count = 0; count < 10; count++) await admit('crowd', pod(), to)
  expect(lookups()).toBe(1)
  await client.delete(Secrets, key)
  await clock.advance(5_000)
  await admit('crowd', pod(), to)
  // Rehearsed, and then made.
  expect(lookups()).toBe(3)
  expect(await client.get(Secrets, key)).toMatchObject({ metadata: key })
})

it('a dry run makes no copy, and the next pod does not rely on one', async () => {
  const labels = { 'dynakube.internal.dynatrace.com/instance': 'dk' }
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'trial', labels } })
  const to = router()
  const { patch } = await admit('trial', pod(), to, { dryRun: true })
  expect(patch).toBeDefined()
  expect((await client.list(Secrets, { namespace: 'trial' })).items).toEqual([])
  await admit('trial', pod(), to)
  expect((await client.list(Secrets, { namespace: 'trial' })).items).toHaveLength(1)
})

it('a pod sees a change of its namespace that was made just before', async () => {
  const metadata = { name: 'changing', labels: { 'dynakube.internal.dynatrace.com/instance': 'dk' } }
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  const to = router()
  expect((await admit('changing', pod(), to)).patch).toBeDefined()
  const patch = { metadata: { labels: { 'dynakube.internal.dynatrace.com/instance': null } } }
  await client.patch(Namespaces, { name: 'changing' }, { type: 'merge', patch })
  expect((await admit('changing', pod(), to)).status?.message).toContain('does not have the label')
})

it('pods that arrive together share the reads of their namespace and DynaKube', async () => {
  const to = router()
  await Promise.all(Array.from({ length: 20 }, () => admit('crowd', pod(), to)))
  const reads = requests.filter((request) => /^get (namespaces|dynakubes)/.test(request))
  // At most three of each: who comes during the first shares the next, and so do those who come during that.
  expect(reads.length).toBeLessThanOrEqual(6)
})

it('pods of one Deployment look its owners up once, until the cache expires', async () => {
  const metadata = { namespace: 'shop', name: 'web' }
  const spec = {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  }
  const { metadata: deployment } = await client.create(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec,
  })
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: deployment.uid, controller: true }
  const { metadata: set } = await client.create(ReplicaSets, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'shop', name: 'web-1', labels: { app: 'web' }, ownerReferences: [owner] },
    spec,
  })
  const ofSet = {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', uid: set.uid, controller: true }],
  }
  const to = router()
  const lookups = () => requests.filter((request) => /^get (replicasets|deployments) shop$/.test(request)).length
  for (let count = 0; count < 10; count++) await admit('shop', pod(ofSet), to)
  expect(lookups()).toBe(2)
  expect(await metrics.expose()).toContain('owner_lookups_total{source="cache"} 18')
  await clock.advance(31_000)
  const { patch = '' } = await admit('shop', pod(ofSet), to)
  expect(lookups()).toBe(4)
  expect(Buffer.from(patch, 'base64').toString()).toContain('--attribute=k8s.workload.kind=deployment')
})

it('a Deployment with an owner of unknown kind is the workload, and the owner is not read', async () => {
  const robot = { apiVersion: 'example.com/v1', kind: 'Robot', name: 'r', uid: 'r', controller: true }
  const template = { metadata: { labels: { app: 'arm' } }, spec: { containers: [{ name: 'a', image: 'a' }] } }
  const { metadata } = await client.create(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'shop', name: 'arm', ownerReferences: [robot] },
    spec: { replicas: 0, selector: { matchLabels: { app: 'arm' } }, template },
  })
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'arm', uid: metadata.uid, controller: true }
  const { patch = '' } = await admit('shop', pod({ ownerReferences: [owner] }))
  expect(Buffer.from(patch, 'base64').toString()).toContain('--attribute=k8s.workload.kind=deployment')
  expect(requests.filter((request) => request.includes('robot'))).toEqual([])
})

it('all Secrets of a DynaKube with certificates and exporters are copied, with data and labels', async () => {
  const names = ['bootstrapper-config', 'bootstrapper-certs', 'otlp-exporter-config', 'otlp-exporter-certs']
  for (const name of names) {
    const metadata = { namespace: OPERATOR, name: `full-${name}`, labels: { of: name } }
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { key: btoa(name) } })
  }
  const spec = { trustedCAs: 'cas', otlpExporterConfiguration: { signals: { logs: {} } } }
  const full = readyDynaKube({ ...spec, metadataEnrichment: { enabled: true } }, { name: 'full' })
  await client.create(DynaKubes, full)
  const labels = { 'dynakube.internal.dynatrace.com/instance': 'full' }
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'complete', labels } })
  const { patch } = await admit('complete', pod())
  expect(patch).toBeDefined()
  const { items } = await client.list(Secrets, { namespace: 'complete' })
  expect(items.map(({ metadata, data }) => [metadata.name, metadata.labels, data]).sort()).toEqual(
    names.map((name) => [`dynatrace-${name}`, { of: name }, { key: btoa(name) }]).sort(),
  )
})

it('a failure is counted with the reason that the pod carries', async () => {
  const gone = {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'gone', uid: 'x', controller: true }],
  }
  const { patch = '' } = await admit('shop', pod(gone))
  expect(Buffer.from(patch, 'base64').toString()).toContain('OwnerLookupFailed')
  expect(await counted('notInjected')).toEqual(['OwnerLookupFailed', '1'])
})
