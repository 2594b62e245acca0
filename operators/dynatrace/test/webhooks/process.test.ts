/** `dynatrace-operator webhook-server` as a process, started as in the chart. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { CustomResourceDefinitions, connect, Events, type KubeClient, Pods, type Secret, Secrets } from '@reeve/kube'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dynakube } from '../../src/api/testing/build.ts'
import { renewCertificates } from '../../src/controllers/certificates/certificate-data.ts'
import { CERTIFICATES_SECRET, validationPath, webhookHost } from '../../src/index.ts'
import { freePorts, httpStatus, OperatorProcess } from '../support/operator-process.ts'

let cluster: ClusterUnderTest
let client: KubeClient
let namespace: string
let folder: string
let child: OperatorProcess | undefined

beforeEach(async () => {
  cluster = await openCluster()
  client = await connect({ kubeconfig: cluster.kubeconfigPath })
  namespace = await cluster.createNamespace()
  folder = await mkdtemp(join(tmpdir(), 'reeve-process-'))
  await createOwnPod('webhook-1')
})
afterEach(async () => {
  await child?.end('SIGKILL')
  child = undefined
  await client.close()
  await cluster.close()
  await rm(folder, { recursive: true, force: true })
})

const createOwnPod = (name: string, annotations: Record<string, string> = {}, container = 'webhook') =>
  client.create(Pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations },
    spec: { containers: [{ name: container, image: 'registry.example.com/operator:1' }] },
  })

async function start(env: Record<string, string> = {}) {
  const [webhook = 0, health = 0, metrics = 0] = await freePorts(3)
  child = new OperatorProcess(['webhook-server', `--certs-dir=${folder}/certs/`], {
    KUBECONFIG: cluster.kubeconfigPath,
    POD_NAMESPACE: namespace,
    POD_NAME: 'webhook-1',
    WEBHOOK_PORT: String(webhook),
    HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
    METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
    ...env,
  })
  return { child, webhook, health, metrics }
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
  it('is alive but not ready until it has a certificate, then serves, and stops when asked to', async () => {
    const { child, webhook, health, metrics } = await start()
    await child.until('life', async () => (await httpStatus(health, '/livez')) === 200)
    expect(await httpStatus(health, '/readyz')).toBe(503)
    const ca = await storeCertificates()
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)

    const { data: stored = {} } = await client.get(Secrets, { namespace, name: CERTIFICATES_SECRET })
    for (const name of ['tls.crt', 'tls.key']) {
      const content = await readFile(join(folder, 'certs', name))
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

    expect(await child.end('SIGTERM')).toBe(0)
    expect(child.log).toContain('dynatrace-operator')
  })

  it('keeps secrets out of its log and its responses', async () => {
    const { child, webhook, health } = await start()
    const ca = await storeCertificates()
    const proxy = Buffer.from("http://user:hunter'2@host:3128").toString('base64')
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: 'proxy' },
      data: { proxy },
    })
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
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
    expect(child.log).toContain('denied a resource')
  })

  it('fails immediately, with the reason, when it cannot know where its certificate is', async () => {
    const { child } = await start({ POD_NAMESPACE: '' })
    await child.until('its end', () => child.exitCode !== null)
    expect(child.exitCode).toBe(1)
    expect(child.log).toContain('POD_NAMESPACE is not set')
  })

  it('uses a certificate that is mounted by another tool, and does not change the Secret', async () => {
    const { mkdir, writeFile } = await import('node:fs/promises')
    const data = await certificates()
    await mkdir(join(folder, 'certs'))
    for (const name of ['tls.crt', 'tls.key'] as const) await writeFile(join(folder, 'certs', name), data[name])
    const { child, webhook, health } = await start({ WEBHOOK_CERTIFICATES: 'provided' })
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    await storeCertificates()
    expect(await send(webhook, data['ca.crt'], '/livez')).toMatchObject({ status: 200 })
    expect(await readFile(join(folder, 'certs', 'tls.crt'), 'utf8')).toBe(data['tls.crt'])
    expect(child.log).not.toContain('wrote the certificate files')
  })

  it('knows by its own pod that the Operator Lifecycle Manager mounts the certificate', async () => {
    await createOwnPod('webhook-olm', { 'olm.operatorNamespace': namespace })
    await storeCertificates()
    const { child, health } = await start({ POD_NAME: 'webhook-olm' })
    await child.until('life', async () => (await httpStatus(health, '/livez')) === 200)
    await child.until('its complaint', () => child.log.includes('could not read the certificate files'))
    expect(await httpStatus(health, '/readyz')).toBe(503)
    expect(child.log).not.toContain('wrote the certificate files')
  })

  it.each([
    ['does not find its own pod', { POD_NAME: 'webhook-9' }, /webhook-9.* not found/],
    ['does not know its own pod', { POD_NAME: '' }, /POD_NAME is not set/],
    ['finds a pod without a container webhook', { POD_NAME: 'other' }, /does not have a container webhook/],
  ])('ends when it %s: it would not know the image of init containers', async (_, env, message) => {
    await createOwnPod('other', {}, 'app')
    const { child } = await start(env)
    await child.until('its end', () => child.exitCode !== null)
    expect(child.exitCode).toBe(1)
    expect(child.log).toMatch(message)
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
    const { child } = await start()
    await child.until('its end', () => child.exitCode !== null)
    expect(child.exitCode).toBe(1)
    expect(child.log).toContain('OneAgentAPM')
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
