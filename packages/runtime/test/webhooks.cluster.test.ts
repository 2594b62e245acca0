import { systemClock } from '@reeve/http'
import {
  type ConfigMap,
  ConfigMaps,
  CustomResourceDefinitions,
  type KubeObject,
  MutatingWebhookConfigurations,
  type Resource,
  resource,
  Secrets,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { allow, deny, mutate, mutatingWebhook, validatingWebhook } from '@reeve/runtime'
import { CertificateManager } from '@reeve/runtime/certificates'
import { conversionWebhook, WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestCluster, type TestCluster } from './support/test-cluster.ts'

const DAY_MS = 86_400_000
const never = new AbortController().signal

interface Widget extends KubeObject {
  readonly spec: { readonly size?: number; readonly sizeText?: string }
}

const routes = [
  validatingWebhook<ConfigMap>('/validate', ({ object }) =>
    object?.data?.bad === undefined ? allow(['looked at']) : deny('data.bad: must not be there', { code: 422 }),
  ),
  mutatingWebhook<ConfigMap>('/mutate', ({ object }) =>
    object === undefined ? allow() : mutate({ ...object, data: { ...object.data, added: 'a/b~c' } } as ConfigMap),
  ),
  conversionWebhook('/convert', [
    {
      group: 'runtime.example.com',
      kind: 'Widget',
      convert: (object, toVersion) => {
        const { size, sizeText } = (object as Widget).spec
        if (sizeText === 'broken') throw new Error('spec.sizeText: broken cannot be a number')
        const spec = toVersion === 'v1' ? { size: Number(sizeText) } : { sizeText: String(size) }
        return { ...object, spec } as Widget
      },
    },
  ]),
]

let world: TestCluster
let name: string
let url: string
let certificates: CertificateManager
const stop = new AbortController()
let running: Promise<void>
/** The certificates' own time: they were first issued ten weeks ago, so that a rotation does not have to be waited for. */
let offsetMs = -70 * DAY_MS

beforeAll(async () => {
  world = await openTestCluster()
  const { client, namespace } = world
  name = `runtime-${namespace}`
  certificates = new CertificateManager(client, {
    secret: { namespace, name: 'webhook-tls' },
    hosts: ['localhost', '127.0.0.1'],
    inject: { validating: [name], mutating: [name], customResourceDefinitions: ['widgets.runtime.example.com'] },
    authorityValidityMs: 100 * DAY_MS,
    servingValidityMs: 90 * DAY_MS,
    clock: { now: () => Date.now() + offsetMs, schedule: systemClock.schedule },
  })
  await certificates.check(never)
  const server = new WebhookServer(new WebhookRouter(routes), { certificates, host: '127.0.0.1', port: 0 })
  running = server.run(stop.signal)
  url = `https://127.0.0.1:${(await server.address()).port}`
  await configureWebhooks()
  expect(await certificates.check(never)).toMatchObject({ isComplete: true })
  await vi.waitFor(async () => expect((await create({})).data?.added).toBe('a/b~c'), { timeout: 20_000 })
})

afterAll(async () => {
  const { client } = world
  await client.delete(ValidatingWebhookConfigurations, { name })
  await client.delete(MutatingWebhookConfigurations, { name })
  await client.delete(CustomResourceDefinitions, { name: 'widgets.runtime.example.com' })
  stop.abort()
  await running
  await world.close()
})

async function configureWebhooks(): Promise<void> {
  const { client, namespace } = world
  const webhook = (path: string) => ({
    name: `${path}.runtime.example.com`,
    clientConfig: { url: `${url}/${path}` },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] as const,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    admissionReviewVersions: ['v1'],
    sideEffects: 'None' as const,
    failurePolicy: 'Fail' as const,
  })
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name }
  await client.create(ValidatingWebhookConfigurations, {
    apiVersion,
    kind: 'ValidatingWebhookConfiguration',
    metadata,
    webhooks: [webhook('validate')],
  })
  await client.create(MutatingWebhookConfigurations, {
    apiVersion,
    kind: 'MutatingWebhookConfiguration',
    metadata,
    webhooks: [webhook('mutate')],
  })
  const version = (of: string, field: string, type: string, storage: boolean) => ({
    name: of,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [field]: { type } } } },
      },
    },
  })
  await client.create(CustomResourceDefinitions, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.runtime.example.com' },
    spec: {
      group: 'runtime.example.com',
      names: { kind: 'Widget', plural: 'widgets' },
      scope: 'Namespaced',
      versions: [version('v1', 'size', 'integer', true), version('v1beta1', 'sizeText', 'string', false)],
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: `${url}/convert` }, conversionReviewVersions: ['v1'] },
      },
    },
  })
}

function create(data: Record<string, string>): ReturnType<typeof world.client.create<ConfigMap>> {
  const metadata = { namespace: world.namespace, generateName: 'subject-' }
  return world.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
}

function widgets(version: 'v1' | 'v1beta1'): Resource<Widget> {
  return resource<Widget>({
    group: 'runtime.example.com',
    version,
    kind: 'Widget',
    plural: 'widgets',
    namespaced: true,
  })
}

function widget(version: 'v1' | 'v1beta1', widgetName: string, spec: Widget['spec']): Widget {
  const metadata = { namespace: world.namespace, name: widgetName, labels: { keep: 'me' } }
  return { apiVersion: `runtime.example.com/${version}`, kind: 'Widget', metadata, spec }
}

test('a denial reaches the user with code and message, and a mutation the stored object', async () => {
  await expect(create({ bad: 'yes' })).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('data.bad: must not be there'),
  })
  expect((await create({ good: 'yes' })).data).toEqual({ good: 'yes', added: 'a/b~c' })
})

test('objects are converted when they are written and read, one by one and in lists', async () => {
  const { client, namespace } = world
  const create = () => client.create(widgets('v1beta1'), widget('v1beta1', 'in', { sizeText: '5' }))
  const created = await vi.waitFor(create, { timeout: 20_000 })
  expect(created).toMatchObject({ apiVersion: 'runtime.example.com/v1beta1', spec: { sizeText: '5' } })
  const stored = await client.get(widgets('v1'), { namespace, name: 'in' })
  expect(stored).toMatchObject({ apiVersion: 'runtime.example.com/v1', spec: { size: 5 } })
  expect(stored.metadata).toMatchObject({ uid: created.metadata.uid, labels: { keep: 'me' } })
  await client.create(widgets('v1'), widget('v1', 'other', { size: 7 }))
  const list = await client.listAll(widgets('v1beta1'), { namespace })
  expect(list.items.map(({ spec }) => spec)).toEqual([{ sizeText: '5' }, { sizeText: '7' }])
})

test('a conversion that fails returns the reason to the user', async () => {
  const broken = world.client.create(widgets('v1beta1'), widget('v1beta1', 'broken', { sizeText: 'broken' }))
  await expect(broken).rejects.toThrow(/spec\.sizeText: broken cannot be a number/)
})

test('a whole rotation of certificate and authority passes without a failed request', async () => {
  let isOver = false
  let requests = 0
  const stream = async () => {
    while (!isOver) {
      await create({})
      requests++
    }
  }
  const streams = [stream(), stream(), stream()]
  const failure = Promise.all(streams)
  failure.catch(() => undefined)
  const shown = new Set<string>([certificates.current?.certificate ?? ''])
  const bundles = new Set<string>([certificates.bundle ?? ''])
  // The certificate is due after 60 days, the authority after 67; a day is far more than the overlap of half an hour.
  for (const daysAgo of [5, 3, 2, 1]) {
    offsetMs = -daysAgo * DAY_MS
    expect(await certificates.check(never)).toMatchObject({ isComplete: true })
    shown.add(certificates.current?.certificate ?? '')
    bundles.add(certificates.bundle ?? '')
    const before = requests
    await Promise.race([failure, vi.waitFor(() => expect(requests).toBeGreaterThan(before + 30), { timeout: 20_000 })])
  }
  isOver = true
  await failure
  expect([shown.size, bundles.size]).toEqual([3, 3])
})

test('a bundle that an upgrade wiped out is written again', async () => {
  const { client } = world
  const wipe = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }] as const
  await client.patch(ValidatingWebhookConfigurations, { name }, { type: 'json', patch: wipe })
  await certificates.check(never)
  const { webhooks } = await client.get(ValidatingWebhookConfigurations, { name })
  expect(webhooks?.[0]?.clientConfig.caBundle).toBe(Buffer.from(certificates.bundle ?? '').toString('base64'))
})

test('two replicas share the certificates of one Secret', async () => {
  const { client, namespace } = world
  const secret = { namespace, name: 'shared-tls' }
  const replicas = [1, 2, 3].map(() => new CertificateManager(client, { secret, hosts: ['webhook.shop.svc'] }))
  await Promise.all(replicas.map((replica) => replica.check(never)))
  const stored = await client.get(Secrets, secret)
  const certificate = Buffer.from(stored.data?.['tls.crt'] ?? '', 'base64').toString()
  expect(replicas.map(({ current }) => current?.certificate)).toEqual([certificate, certificate, certificate])
})
