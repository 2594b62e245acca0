/** `dynatrace-operator webhook-server`, started as in the chart: as a process where that shows something. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { runCaptured, startCaptured } from '@reeve/cli/testing'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { CustomResourceDefinitions, connect, Events, type KubeClient, Pods, type Secret, Secrets } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dynakube } from '../../src/api/testing/build.ts'
import { main } from '../../src/cli/main.ts'
import { renewCertificates } from '../../src/controllers/certificates/certificate-data.ts'
import { CERTIFICATES_SECRET, validationPath, webhookHost } from '../../src/index.ts'
import { freePorts, httpStatus, OperatorProcess, responds } from '../support/operator-process.ts'
import { until } from '../support/until.ts'

let cluster: ClusterUnderTest
let client: KubeClient
let namespace: string
let folder: string

beforeAll(async () => {
  cluster = await openCluster()
  client = await connect({ kubeconfig: cluster.kubeconfigPath })
  namespace = await cluster.createNamespace()
  folder = await mkdtemp(join(tmpdir(), 'reeve-process-'))
  await createOwnPod('webhook-1')
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
  await rm(folder, { recursive: true, force: true })
})

const createOwnPod = (name: string, annotations: Record<string, string> = {}, container = 'webhook') =>
  client.create(Pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations },
    spec: { containers: [{ name: container, image: 'registry.example.com/operator:1' }] },
  })

/** The arguments, the environment and the addresses of a server whose files are in this folder. */
async function prepared(files: string, env: Record<string, string> = {}) {
  const [webhook = 0, health = 0, metrics = 0] = await freePorts(3)
  return {
    webhook,
    health,
    metrics,
    args: ['webhook-server', `--certs-dir=${files}/`],
    env: {
      KUBECONFIG: cluster.kubeconfigPath,
      POD_NAMESPACE: namespace,
      POD_NAME: 'webhook-1',
      WEBHOOK_PORT: String(webhook),
      HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
      METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
      ...env,
    },
  }
}

async function start(files: string, env: Record<string, string> = {}) {
  const parts = await prepared(files, env)
  return { ...parts, child: new OperatorProcess(parts.args, parts.env) }
}

/** Runs a server that ends by itself. */
async function failure(env: Record<string, string>) {
  const { args, env: all } = await prepared(join(folder, 'none'), env)
  const { code, stdout, stderr } = await runCaptured(main, args, { env: all })
  return { code, log: `${stdout}${stderr}` }
}

const certificates = async () => (await renewCertificates({}, webhookHost(namespace), Date.now())).data

async function storeCertificates(): Promise<string> {
  const data = await certificates()
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  const metadata = { namespace, name: CERTIFICATES_SECRET }
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    type: 'Opaque',
    data: Object.fromEntries(encoded),
  }
  await client.create(Secrets, secret)
  return data['ca.crt']
}

function send(port: number, ca: string, path: string, body?: object) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        ca,
        servername: webhookHost(namespace),
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json' },
        agent: false,
      },
      (response) =>
        void text(response).then((answer) => resolve({ status: response.statusCode ?? 0, text: answer }), reject),
    )
    call.on('error', reject)
    call.end(body && JSON.stringify(body))
  })
}

function review(object: object) {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'uid-1',
      kind: { group: 'dynatrace.com', version: 'v1beta6', kind: 'DynaKube' },
      resource: { group: 'dynatrace.com', version: 'v1beta6', resource: 'dynakubes' },
      namespace,
      operation: 'CREATE',
      object,
    },
  }
}

const PATH = validationPath('v1beta6', 'DynaKube')

describe('the process', () => {
  let running: Awaited<ReturnType<typeof start>>
  let ca: string
  let files: string
  beforeAll(async () => {
    files = join(folder, 'certs')
    running = await start(files)
  })
  afterAll(() => running?.child.end('SIGKILL'))

  it('is alive but not ready until it has a certificate, and then serves', async () => {
    const { child, webhook, health, metrics } = running
    await child.until('life', async () => (await httpStatus(health, '/livez')) === 200)
    expect(await httpStatus(health, '/readyz')).toBe(503)
    ca = await storeCertificates()
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)

    const { data: stored = {} } = await client.get(Secrets, { namespace, name: CERTIFICATES_SECRET })
    for (const name of ['tls.crt', 'tls.key']) {
      const content = await readFile(join(files, name))
      expect(content.toString('base64'), name).toBe(stored[name])
    }
    expect(await send(webhook, ca, '/livez')).toEqual({ status: 200, text: '' })
    const { text: denied } = await send(webhook, ca, PATH, review(dynakube({ apiUrl: '' })))
    expect(JSON.parse(denied)).toMatchObject({ response: { uid: 'uid-1', allowed: false } })
    expect(await send(webhook, ca, '/validate-dynatrace-com-v1beta9-dynakube', review({}))).toMatchObject({
      status: 404,
    })
    const conversion = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'uid-2', desiredAPIVersion: 'dynatrace.com/v1beta4', objects: [dynakube()] },
    }
    expect(JSON.parse((await send(webhook, ca, '/convert', conversion)).text)).toMatchObject({
      response: { uid: 'uid-2', result: { status: 'Success' } },
    })
    await expect(tls12(webhook, ca)).rejects.toThrow(/protocol version/)
    const exposed = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    expect(exposed).toContain(`controller_runtime_webhook_requests_total{webhook="${PATH}",code="200"} 1`)
    expect(exposed).toContain('rest_client_requests_total')
  })

  it('stops when asked to, and keeps secrets out of its log and its responses', async () => {
    const { child, webhook } = running
    const proxy = Buffer.from("http://user:hunter'2@host:3128").toString('base64')
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'proxy' },
      data: { proxy },
    })
    const answers = [
      await send(webhook, ca, PATH, review(dynakube({ proxy: { valueFrom: 'proxy' } }))),
      await send(webhook, ca, PATH, review(dynakube({ proxy: { value: "http://user:hunter'2@host:3128" } }))),
      await send(webhook, ca, PATH, review(dynakube({ proxy: { value: 'http://user:hunter 2@host:3128' } }))),
      await send(webhook, ca, PATH, { proxy: 'hunter2' }),
    ]
    expect(
      answers.map(
        ({ text: answer }) => answer.includes('password') || answer.includes('expected kind AdmissionReview'),
      ),
    ).toEqual([true, true, true, true])
    expect(await child.end('SIGTERM')).toBe(0)
    const said = [child.log, ...answers.map(({ text: answer }) => answer)].join('\n')
    expect(said).not.toMatch(/hunter|PRIVATE KEY/)
    // The log is not empty.
    expect(child.log).toContain('dynatrace-operator')
    expect(child.log).toContain('denied a resource')
  })
})

describe('the command', () => {
  it('knows by its own pod that the Operator Lifecycle Manager mounts the certificate', async () => {
    await createOwnPod('webhook-olm', { 'olm.operatorNamespace': namespace })
    const { args, env, health } = await prepared(join(folder, 'olm'), { POD_NAME: 'webhook-olm' })
    const running = startCaptured(main, args, { env })
    const log = () => `${running.stdout}${running.stderr}`
    await until('life', () => responds(health, '/livez', 200))
    await until('its complaint', () => log().includes('could not read the certificate files'))
    expect(await httpStatus(health, '/readyz')).toBe(503)
    expect(log()).not.toContain('wrote the certificate files')
    running.send('SIGTERM')
    await running.ended
  })

  it('uses a certificate that is mounted by another tool, and does not change the Secret', async () => {
    const data = await certificates()
    const mounted = join(folder, 'mounted')
    await mkdir(mounted)
    for (const name of ['tls.crt', 'tls.key'] as const) await writeFile(join(mounted, name), data[name])
    const { args, env, webhook, health } = await prepared(mounted, { WEBHOOK_CERTIFICATES: 'provided' })
    const running = startCaptured(main, args, { env })
    await until('readiness', () => responds(health, '/readyz', 200))
    expect(await send(webhook, data['ca.crt'], '/livez')).toMatchObject({ status: 200 })
    expect(await readFile(join(mounted, 'tls.crt'), 'utf8')).toBe(data['tls.crt'])
    running.send('SIGTERM')
    const { code, stdout, stderr } = await running.ended
    expect(code).toBe(0)
    expect(`${stdout}${stderr}`).not.toContain('wrote the certificate files')
  })

  it('fails immediately, with the reason, when it cannot know where its certificate is', async () => {
    const { code, log } = await failure({ POD_NAMESPACE: '' })
    expect(code).toBe(1)
    expect(log).toContain('POD_NAMESPACE is not set')
  })

  it.each([
    ['does not find its own pod', { POD_NAME: 'webhook-9' }, /webhook-9.* not found/],
    ['does not know its own pod', { POD_NAME: '' }, /POD_NAME is not set/],
    ['finds a pod without a container webhook', { POD_NAME: 'other' }, /does not have a container webhook/],
  ])('ends when it %s: it would not know the image of init containers', async (_, env, message) => {
    if (env.POD_NAME === 'other') await createOwnPod('other', {}, 'app')
    const { code, log } = await failure(env)
    expect(code).toBe(1)
    expect(log).toMatch(message)
  })

  it('ends beside the former OneAgent operator, and reports it in an event on its pod', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    await client.create(CustomResourceDefinitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'oneagentapms.dynatrace.com' },
      spec: {
        group: 'dynatrace.com',
        scope: 'Namespaced',
        names: { kind: 'OneAgentAPM', plural: 'oneagentapms' },
        versions: [{ name: 'v1alpha1', served: true, storage: true, schema }],
      },
    })
    const { code, log } = await failure({})
    expect(code).toBe(1)
    expect(log).toContain('OneAgentAPM')
    const { items } = await client.list(Events, { namespace })
    expect(items.map(({ reason, involvedObject }) => [reason, involvedObject.name])).toContainEqual([
      'IncompatibleCRDPresent',
      'webhook-1',
    ])
  })
})

function tls12(port: number, ca: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, ca, servername: webhookHost(namespace), maxVersion: 'TLSv1.2' as const }
    const socket = connectTls(options, () => resolve())
    socket.once('error', reject)
  })
}
