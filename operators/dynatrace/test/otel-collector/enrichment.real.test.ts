/**
 * What the real OpenTelemetry collector makes of telemetry with the configuration that the operator generates for it.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { createClient, Deployments, type KubeClient, Namespaces, Pods } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dynakube } from '../../src/api/testing/build.ts'
import { CONFIG_FILE } from '../../src/controllers/dynakube/components/otel-collector/names.ts'
import { collectorConfigData } from '../../src/controllers/dynakube/components/otel-collector/telemetry-ingest.ts'
import { until } from '../support/until.ts'

const program = process.env.REEVE_OTEL_COLLECTOR
const reason = program === undefined ? ' (skipped: `REEVE_OTEL=1 npm run test:real` builds the collector)' : ''

const NAMESPACE = 'shop'
// Every address of this network is the machine itself: a collector and a pod have one each, and all their ports are
// free.
const ownAddress = (): string => `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`

/** Only where the collector finds its cluster, and how soon and in which format it sends, is different from a pod. */
const ON_THIS_MACHINE = `
processors:
  k8sattributes: { auth_type: kubeConfig }
  batch/traces: { timeout: 100ms }
exporters:
  otlphttp: { encoding: json, compression: none }
service:
  telemetry: { logs: { level: error }, metrics: { level: none } }
`

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}
interface Traces {
  readonly resourceSpans?: readonly { readonly resource?: { readonly attributes?: readonly Attribute[] } }[]
}

let folder: string
let cluster: EmbeddedCluster
let tenant: Server
let collector: ChildProcess
/** The attributes of every resource that arrived in the tenant. */
const arrived: Readonly<Record<string, string | undefined>>[] = []
const address = ownAddress()
const podAddress = ownAddress()

async function startTenant(): Promise<string> {
  tenant = createServer(async (incoming, outgoing) => {
    // The body is what the collector sends by the protocol.
    const { resourceSpans = [] } = (await json(incoming)) as Traces
    for (const { resource } of resourceSpans) {
      const attributes = resource?.attributes ?? []
      arrived.push(Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue])))
    }
    outgoing.setHeader('content-type', 'application/json').end('{}')
  })
  tenant.listen(0, '127.0.0.1')
  await once(tenant, 'listening')
  // Listens on a port.
  return `http://127.0.0.1:${(tenant.address() as AddressInfo).port}`
}

/** A Deployment with one pod, which no node runs: its address is given by the test. */
async function deploy(client: KubeClient): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  const labels = { app: 'web' }
  await client.create(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: NAMESPACE, name: 'web' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations: { 'metadata.dynatrace.com/foo': 'bar' } },
        spec: { containers: [{ name: 'web', image: 'web:1' }] },
      },
    },
  })
  const pods = async () => (await client.list(Pods, { namespace: NAMESPACE })).items
  await until('a pod', async () => (await pods()).length > 0)
  for (const { metadata } of await pods()) {
    const status = { phase: 'Running', podIP: podAddress, podIPs: [{ ip: podAddress }] }
    const options = { subresource: 'status' }
    await client.patch(
      Pods,
      { namespace: NAMESPACE, name: metadata.name },
      { type: 'merge', patch: { status } },
      options,
    )
  }
}

async function startCollector(endpoint: string): Promise<void> {
  const path = (name: string) => join(folder, name)
  await writeFile(path('telemetry.yaml'), collectorConfigData(dynakube({ telemetryIngest: {} }))[CONFIG_FILE] ?? '')
  await writeFile(path('machine.yaml'), ON_THIS_MACHINE)
  await cluster.writeKubeconfig(path('kubeconfig'))
  const files = ['telemetry.yaml', 'machine.yaml'].map((name) => `--config=file:${path(name)}`)
  collector = spawn(program ?? '', files, {
    env: {
      KUBECONFIG: path('kubeconfig'),
      MY_POD_IP: address,
      DT_ENDPOINT: endpoint,
      DT_DATA_INGEST_TOKEN: 'token',
      K8S_CLUSTER_UID: 'uid',
      K8S_CLUSTER_NAME: 'cluster',
      DT_ENTITY_KUBERNETES_CLUSTER: 'KUBERNETES_CLUSTER-1',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Posts from the address of the pod; whether it was taken. */
async function post(port: number, path: string, body: object): Promise<boolean> {
  const sent = request({ host: address, port, path, method: 'POST', localAddress: podAddress })
  sent.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  try {
    const [answer] = await once(sent, 'response')
    answer.resume()
    return answer.statusCode < 300
  } catch {
    // It does not listen yet.
    return false
  }
}

const now = () => BigInt(Date.now()) * 1_000_000n

function overOtlp(): Promise<boolean> {
  const times = { startTimeUnixNano: String(now()), endTimeUnixNano: String(now() + 1_000_000n) }
  const ids = { traceId: '0'.repeat(31).concat('1'), spanId: '0'.repeat(15).concat('1') }
  const spans = [{ ...ids, name: 'GET /', kind: 2, ...times }]
  const attributes = [{ key: 'service.name', value: { stringValue: 'over-otlp' } }]
  return post(4318, '/v1/traces', { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] })
}

function overZipkin(): Promise<boolean> {
  const localEndpoint = { serviceName: 'over-zipkin' }
  const timestamp = Date.now() * 1000
  const span = { traceId: '0'.repeat(15).concat('2'), id: '0'.repeat(15).concat('2'), name: 'get', timestamp }
  return post(9411, '/api/v2/spans', [{ ...span, duration: 1000, localEndpoint }] as object)
}

describe.skipIf(program === undefined)(`the real collector${reason}`, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-collector-'))
    cluster = await startEmbeddedCluster({ nodes: 0 })
    const { transport } = cluster
    await deploy(createClient({ transport }))
    await startCollector(await startTenant())
  })
  afterAll(async () => {
    if (collector?.kill('SIGKILL')) await once(collector, 'exit')
    tenant?.close()
    tenant?.closeAllConnections()
    await cluster?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it.each([
    ['over-otlp', overOtlp],
    ['over-zipkin', overZipkin],
  ])('enriches telemetry that arrives %s with its pod and workload', async (service, send) => {
    const isEnriched = (attributes: (typeof arrived)[number]) => attributes['k8s.workload.name'] !== undefined
    const told = () => arrived.filter((attributes) => attributes['service.name'] === service)
    // Telemetry that arrives before the collector has read the cluster is not enriched.
    await until('telemetry with its workload', async () => {
      await send()
      return told().some(isEnriched)
    })
    const enriched = told().find(isEnriched)
    expect(enriched).toMatchObject({
      foo: 'bar',
      'k8s.workload.name': 'web',
      'k8s.workload.kind': 'deployment',
      'dt.kubernetes.workload.name': 'web',
      'dt.kubernetes.workload.kind': 'deployment',
      'k8s.namespace.name': NAMESPACE,
      'k8s.cluster.name': 'cluster',
      'dt.entity.kubernetes_cluster': 'KUBERNETES_CLUSTER-1',
    })
    expect(enriched?.['k8s.pod.name']).toMatch(/^web-/)
    expect(enriched).not.toHaveProperty(['k8s.deployment.name'])
  })
})
