/** The certificates controller on a cluster whose clock the test moves. */
import { X509Certificate } from 'node:crypto'
import type { CrdManifest } from '@reeve/crd'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { sleep } from '@reeve/http'
import { SimulatedClock } from '@reeve/http/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  Deployments,
  type KubeClient,
  MutatingWebhookConfigurations,
  Namespaces,
  Secrets,
  type ValidatingWebhook,
  ValidatingWebhookConfigurations,
} from '@reeve/kube'
import { defineOperator, silentLogger } from '@reeve/runtime'
import { seededRandom } from '@reeve/runtime/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CERTIFICATES_SECRET,
  CRDS,
  certificatesController,
  crdManifests,
  DynaKubeCrd,
  EdgeConnectCrd,
  ensureCertificates,
  firstCertificates,
  validatingConfiguration,
  WEBHOOK_NAME,
} from '../../src/index.ts'
import { createWebhookDeployment } from '../support/webhook-deployment.ts'

const NAMESPACE = 'dynatrace'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const tenant = () => ({ client, clock, logger: silentLogger, signal: stop.signal })

let clock: SimulatedClock
let cluster: EmbeddedCluster
let client: KubeClient
let stop: AbortController
let running: Promise<void> | undefined

beforeEach(async () => {
  clock = new SimulatedClock()
  cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    random: seededRandom(1),
    controllers: false,
  })
  client = createClient({
    clock,
    transport: cluster.transport,
  })
  stop = new AbortController()
  running = undefined
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
})
afterEach(async () => {
  stop.abort()
  if (running) await completed(running)
  await cluster.stop()
})

/** Advances the clock until the condition holds. Keys are generated on threads, which no simulated clock waits for. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (!(await condition())) {
    await clock.advance(100)
    await sleep(2, { signal: deadline })
  }
}

async function completed(promise: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  promise.then(over, over)
  await until(() => isOver)
  await promise
}

async function install(parts: { readonly crds?: boolean; readonly configurations?: boolean } = {}): Promise<void> {
  const { crds = true, configurations = true } = parts
  if (crds)
    for (const manifest of crdManifests()) await client.create(CustomResourceDefinitions, asDefinition(manifest))
  if (configurations) {
    const service = (path: string) => ({ service: { namespace: NAMESPACE, name: WEBHOOK_NAME, path } })
    await client.create(ValidatingWebhookConfigurations, validatingConfiguration(service))
    const webhooks: readonly ValidatingWebhook[] = [
      {
        name: 'webhook.pod.dynatrace.com',
        clientConfig: service('/inject'),
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ]
    await client.create(MutatingWebhookConfigurations, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: WEBHOOK_NAME },
      webhooks,
    })
  }
}

const installDeployment = () => createWebhookDeployment(client, NAMESPACE)

function startController(): void {
  const operator = defineOperator({ name: 'certificates', controllers: [certificatesController(NAMESPACE)] })
  const { manager } = operator.create({ client, clock, random: seededRandom(2) })
  running = manager.run(stop.signal)
  running.catch(() => undefined)
}

const stored = () => client.get(Secrets, { namespace: NAMESPACE, name: CERTIFICATES_SECRET })
const exists = () =>
  stored().then(
    () => true,
    () => false,
  )
async function texts(): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await stored()
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]))
}

/** Every bundle there is, each once. */
async function bundles(): Promise<readonly string[]> {
  const configurations = await Promise.all([
    client.get(ValidatingWebhookConfigurations, { name: WEBHOOK_NAME }),
    client.get(MutatingWebhookConfigurations, { name: WEBHOOK_NAME }),
  ])
  const definitions = await Promise.all(CRDS.map(({ name }) => client.get(CustomResourceDefinitions, { name })))
  const configs = [
    ...configurations.flatMap(({ webhooks = [] }) => webhooks.map(({ clientConfig }) => clientConfig)),
    ...definitions.map(({ spec }) => spec.conversion?.webhook?.clientConfig),
  ]
  return [...new Set(configs.map((config) => Buffer.from(config?.caBundle ?? '', 'base64').toString()))]
}

describe('the certificates controller', () => {
  it('makes the Secret and sets every bundle', async () => {
    await install()
    const deployment = await installDeployment()
    startController()
    await until(async () => (await exists()) && (await bundles())[0] !== '')
    const { metadata, type } = await stored()
    const data = await texts()
    expect(Object.keys(data).sort()).toEqual(['ca.crt', 'ca.crt.old', 'ca.key', 'tls.crt', 'tls.key'])
    expect(data['ca.crt.old']).toBe('')
    expect(type).toBe('Opaque')
    expect(metadata.labels).toBeUndefined()
    expect(metadata.ownerReferences).toMatchObject([
      { apiVersion: 'apps/v1', kind: 'Deployment', name: WEBHOOK_NAME, uid: deployment.metadata.uid, controller: true },
    ])
    const server = new X509Certificate(data['tls.crt'] ?? '')
    expect(server.verify(new X509Certificate(data['ca.crt'] ?? '').publicKey)).toBe(true)
    expect(server.checkHost(`${WEBHOOK_NAME}.${NAMESPACE}.svc`)).toBeDefined()
    expect(await bundles()).toEqual([data['ca.crt']])
  })

  it('renews only the server certificate after 6 d 22 h, automatically', async () => {
    await install()
    await installDeployment()
    startController()
    await until(async () => (await exists()) && (await bundles())[0] !== '')
    const first = await texts()
    await clock.advance(6 * DAY_MS + 11 * HOUR_MS)
    expect(await texts()).toEqual(first)
    // Checked every three hours: within that time after the renewal falls due.
    await clock.advance(5 * HOUR_MS)
    await until(async () => (await texts())['tls.crt'] !== first['tls.crt'])
    const second = await texts()
    expect(second).toMatchObject({ 'ca.crt': first['ca.crt'], 'ca.key': first['ca.key'], 'ca.crt.old': '' })
    expect(second['tls.key']).not.toBe(first['tls.key'])
  })

  it('keeps trusting the authority before the present one', async () => {
    await install()
    await installDeployment()
    await completed(firstCertificates(NAMESPACE, tenant()))
    const first = await texts()
    await clock.advance(364 * DAY_MS + 22 * HOUR_MS)
    startController()
    await until(async () => (await texts())['ca.crt'] !== first['ca.crt'])
    const second = await texts()
    expect(second['ca.crt.old']).toBe(first['ca.crt'])
    expect(second['tls.crt']).not.toBe(first['tls.crt'])
    await until(async () => (await bundles())[0] === `${second['ca.crt']}${first['ca.crt']}`)
    expect(await bundles()).toHaveLength(1)
  })

  it('creates the Secret without webhook configurations', async () => {
    await install({ configurations: false })
    await installDeployment()
    await completed(firstCertificates(NAMESPACE, tenant()))
    expect(await exists()).toBe(true)
  })

  it('fails without the CRD of DynaKubes', async () => {
    await installDeployment()
    let isDone = false
    const first = firstCertificates(NAMESPACE, tenant()).then(() => {
      isDone = true
    })
    await clock.advance(60_000)
    expect(isDone).toBe(false)
    await install()
    await completed(first)
    expect(await bundles()).toEqual([(await texts())['ca.crt']])
  })

  it('waits for the webhook to be installed until it is aborted', async () => {
    await install()
    const first = firstCertificates(NAMESPACE, tenant())
    await clock.advance(60_000)
    expect(await exists()).toBe(false)
    await installDeployment()
    await completed(first)
    expect(await exists()).toBe(true)
    const reason = new Error('enough')
    await expect(firstCertificates('other', { ...tenant(), signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it('heals bundles and Secret, and takes the Secret over from a former Deployment', async () => {
    await install()
    await installDeployment()
    startController()
    await until(async () => (await exists()) && (await bundles())[0] !== '')
    await client.delete(Deployments, { namespace: NAMESPACE, name: WEBHOOK_NAME })
    const empty = { spec: { conversion: { webhook: { clientConfig: { caBundle: null } } } } }
    await client.patch(CustomResourceDefinitions, { name: CRDS[0]?.name ?? '' }, { type: 'merge', patch: empty })
    expect(await bundles()).toHaveLength(2)
    const { metadata } = await installDeployment()
    await until(async () => (await bundles()).length === 1)
    await until(async () => (await stored()).metadata.ownerReferences?.[0]?.uid === metadata.uid)
    expect((await stored()).metadata.ownerReferences).toHaveLength(1)
  })

  it('never leaves what is served untrusted when it ends between two writes', async () => {
    await install()
    await installDeployment()
    await completed(firstCertificates(NAMESPACE, tenant()))
    const first = await texts()
    await clock.advance(364 * DAY_MS + 11 * HOUR_MS)
    // Leads to a serving certificate that is valid when the authority is due.
    await completed(firstCertificates(NAMESPACE, tenant()))
    await clock.advance(2 * HOUR_MS)
    const deployment = await client.get(Deployments, { namespace: NAMESPACE, name: WEBHOOK_NAME })
    const crashing = createClient({
      clock,
      transport: {
        send: (request) =>
          request.method === 'PUT' && request.path.includes('/secrets/')
            ? Promise.reject(new Error('the process ended'))
            : cluster.handle(request),
        close: async () => undefined,
      },
    })
    await expect(completed(ensureCertificates(deployment, { ...tenant(), client: crashing }))).rejects.toThrow()
    expect((await texts())['ca.crt']).toBe(first['ca.crt'])
    const [announced = ''] = await bundles()
    expect(announced).toContain(first['ca.crt'])
    expect(announced).not.toBe(first['ca.crt'])
    await completed(ensureCertificates(deployment, tenant()))
    const second = await texts()
    expect(second['ca.crt.old']).toBe(first['ca.crt'])
    expect(await bundles()).toEqual([`${second['ca.crt']}${first['ca.crt']}`])
  })

  it('does without the CRD of EdgeConnects, which need not be installed', async () => {
    await install()
    await installDeployment()
    await client.delete(CustomResourceDefinitions, { name: EdgeConnectCrd.name })
    await completed(firstCertificates(NAMESPACE, tenant()))
    const { spec } = await client.get(CustomResourceDefinitions, { name: DynaKubeCrd.name })
    const bundle = Buffer.from(spec.conversion?.webhook?.clientConfig?.caBundle ?? '', 'base64').toString()
    expect(bundle).toBe((await texts())['ca.crt'])
  })

  it('needs no more than to get, create and update', async () => {
    const requests = new Set<string>()
    const observed = createClient({
      clock,
      transport: cluster.transport,
      onRequest: ({ verb, resource }) => requests.add(`${verb} ${resource}`),
    })
    await install()
    await installDeployment()
    await completed(firstCertificates(NAMESPACE, { ...tenant(), client: observed }))
    await clock.advance(7 * DAY_MS)
    await completed(firstCertificates(NAMESPACE, { ...tenant(), client: observed }))
    expect([...requests].sort()).toEqual([
      'create secrets',
      'get customresourcedefinitions',
      'get deployments',
      'get mutatingwebhookconfigurations',
      'get secrets',
      'get validatingwebhookconfigurations',
      'update customresourcedefinitions',
      'update mutatingwebhookconfigurations',
      'update secrets',
      'update validatingwebhookconfigurations',
    ])
  })

  it('writes nothing while nothing is due', async () => {
    await install()
    await installDeployment()
    startController()
    await until(async () => (await exists()) && (await bundles())[0] !== '')
    await clock.advance(10_000)
    const before = (await stored()).metadata.resourceVersion
    const read = () => client.get(ValidatingWebhookConfigurations, { name: WEBHOOK_NAME })
    const { generation } = (await read()).metadata
    await clock.advance(2 * DAY_MS)
    const configuration = await read()
    expect((await stored()).metadata.resourceVersion).toBe(before)
    expect(configuration.metadata.generation).toBe(generation)
  })
})

/** The manifest of `@reeve/crd` keeps its spec open; the cluster checks it. */
function asDefinition(manifest: CrdManifest): CustomResourceDefinition {
  return manifest as unknown as CustomResourceDefinition
}
