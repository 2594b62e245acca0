/** The bundle that ships, under the memory limit and with the flags of the chart, in a real memory cgroup. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openCluster } from '@reeve/cluster-under-test'
import { sleep } from '@reeve/http'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  DaemonSets,
  type Deployment,
  Deployments,
  type KubeClient,
  type Resource,
  Secrets,
  StatefulSets,
} from '@reeve/kube'
import { expect, it } from 'vitest'
import { CRD_VERSION_LABEL } from '../../src/controllers/crd-version/crd-version.ts'
import { encodeSecret } from '../../src/controllers/rendering/secret-data.ts'
import { crdManifests, type DynaKubeSpec, DynaKubes } from '../../src/index.ts'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { USER_SECRETS } from '../dynakube/support/features.ts'
import { FULL, FULL_WITH_CERTIFICATES } from '../dynakube/support/full-dynakube.ts'
import { MemoryGroup } from '../support/memory-group.ts'
import { freePorts, OperatorProcess } from '../support/operator-process.ts'
import { helmPath, renderChart } from '../support/render-chart.ts'
import { createWebhookDeployment } from '../support/webhook-deployment.ts'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))
const RELEASE = '1.8.1'
const COUNT = 50
/** Lists compete with the operator for the cluster. */
const POLL_MS = 500
const PATIENCE_MS = 240_000
const MIB = 1024 ** 2
/** What the container must be able to take on top of its peak. */
const HEADROOM = 0.1

const obstacle = helmPath === undefined ? 'helm is missing' : await MemoryGroup.obstacle()
const names = Array.from({ length: COUNT }, (_, index) => `cluster-${index}`)

/** The environment variables and the memory limit of the operator's container. */
async function containerOfChart(namespace: string) {
  const objects = await renderChart(namespace, ['installCRD=false'])
  const found = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'dynatrace-operator')
  // The kind says what it is.
  const [container] = (found as Deployment | undefined)?.spec?.template.spec?.containers ?? []
  const [, mebibytes] = /^(\d+)Mi$/.exec(container?.resources?.limits?.memory ?? '') ?? []
  const env = (container?.env ?? []).flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))
  return { limitBytes: Number(mebibytes) * MIB, env: Object.fromEntries(env) as Readonly<Record<string, string>> }
}

async function prepare(client: KubeClient, namespace: string, simulator: TenantSimulator): Promise<void> {
  for (const manifest of crdManifests(namespace)) {
    // The manifest keeps its spec open; the cluster checks it.
    const crd = manifest as unknown as CustomResourceDefinition
    const labels = { [CRD_VERSION_LABEL]: RELEASE }
    await client.create(CustomResourceDefinitions, { ...crd, metadata: { ...crd.metadata, labels } })
  }
  await createWebhookDeployment(client, namespace)
  const metadata = (name: string) => ({ namespace, name })
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: metadata('trust'),
    data: { certs: simulator.caCertificate },
  })
  for (const [name, data] of Object.entries(USER_SECRETS)) {
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: metadata(name),
      data: encodeSecret(data),
    })
  }
  for (const [index, name] of names.entries()) {
    const { tokens } = simulator.tenant(name)
    const value = (key: string) => tokens.get(key)?.value ?? ''
    const data = encodeSecret({ apiToken: value('apiToken'), dataIngestToken: value('dataIngestToken') })
    await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), data })
    await client.create(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: metadata(name),
      spec: { ...fullSpec(index), apiUrl: simulator.url(name), trustedCAs: 'trust' },
    })
  }
}

/**
 * Everything that 50 DynaKubes of one namespace can have: each has its own namespaces, and none has telemetry ingest,
 * whose ConfigMap they would share. Keys are generated for one in ten, as that takes most of the time and little memory.
 */
function fullSpec(index: number): Partial<DynaKubeSpec> {
  const { telemetryIngest: _, ...spec } = index % 10 === 0 ? FULL : FULL_WITH_CERTIFICATES
  const namespaceSelector = { matchLabels: { team: String(index) } }
  return {
    ...spec,
    oneAgent: { cloudNativeFullStack: { namespaceSelector } },
    metadataEnrichment: { enabled: true, namespaceSelector },
    otlpExporterConfiguration: { signals: { traces: {} }, namespaceSelector },
  }
}

/** The most memory that the process itself had, without the file cache that the group is charged with, too. */
async function peakResidentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}

const countOf = async (client: KubeClient, resource: Resource, namespace: string) =>
  (await client.list(resource, { namespace })).items.filter(({ metadata }) => metadata.ownerReferences).length

it.skipIf(obstacle !== undefined)(
  `the operator brings up ${COUNT} DynaKubes with every feature at the memory limit of the chart${obstacle ? ` (skipped: ${obstacle})` : ''}`,
  { timeout: 300_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'reeve-limits-'))
    await promisify(execFile)('npm', ['run', 'bundle'], { cwd: PACKAGE, env: { ...process.env, OUTDIR: folder } })
    await using cluster = disposable(await openCluster({ embedded: { controllers: false } }))
    await using simulator = await startTenantSimulator({ tenants: names.map((id) => ({ id })) })
    const client = await connect({ kubeconfig: cluster.kubeconfigPath })
    const namespace = await cluster.createNamespace()
    await prepare(client, namespace, simulator)
    const { limitBytes, env } = await containerOfChart(namespace)
    await using group = await MemoryGroup.create(`reeve-limits-${process.pid}`, limitBytes)
    const [health = 0, metrics = 0] = await freePorts(2)
    const operator = new OperatorProcess(
      ['operator'],
      {
        ...env,
        LOG_LEVEL: 'info',
        KUBECONFIG: cluster.kubeconfigPath,
        POD_NAMESPACE: namespace,
        APP_VERSION: RELEASE,
        HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
        METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
      },
      { program: join(folder, 'dynatrace-operator.js'), runner: group.runner },
    )
    try {
      const holds = async (what: string, condition: () => Promise<boolean>) =>
        operator.until(
          what,
          async () => {
            await sleep(POLL_MS)
            if (operator.exitCode !== null) throw new Error(`it ended with ${operator.exitCode}`)
            return condition()
          },
          PATIENCE_MS,
        )
      await holds('all workloads of all DynaKubes', async () => {
        const counts = await Promise.all(
          [StatefulSets, DaemonSets, Deployments].map((resource) => countOf(client, resource, namespace)),
        )
        return counts.join() === [3 * COUNT, 2 * COUNT, COUNT].join()
      })
      const patch = { spec: { networkZone: 'north' } }
      await Promise.all(names.map((name) => client.patch(DynaKubes, { namespace, name }, { type: 'merge', patch })))
      await holds('a change of all DynaKubes at once', async () => {
        const { items } = await client.list(DaemonSets, { namespace })
        return items.filter(({ metadata }) => (metadata.generation ?? 0) > 1).length >= COUNT
      })
      const resident = await peakResidentBytes(operator.pid ?? 0)
      expect(operator.exitCode).toBeNull()
      expect(await group.kills()).toBe(0)
      expect(resident).toBeLessThan(limitBytes * (1 - HEADROOM))
    } finally {
      await operator.end('SIGTERM')
      await client.close()
      await rm(folder, { recursive: true, force: true })
    }
  },
)

function disposable<T extends { close(): Promise<void> }>(value: T): T & AsyncDisposable {
  return Object.assign(value, { [Symbol.asyncDispose]: () => value.close() })
}
