/** The CSI driver with the rights of its ServiceAccount and the settings of its DaemonSet: it needs no others. */
import { mkdir, mkdtemp, readlink, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DaemonSet, Events, Jobs } from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DataPaths } from '../../src/csi/data-paths.ts'
import { networkConnections } from '../../src/csi/provisioner/connections.ts'
import { parseJobSettings } from '../../src/csi/provisioner/job-settings.ts'
import { createProvisioner } from '../../src/csi/provisioner/provisioner.ts'
import { provisionerMetrics } from '../../src/csi/provisioner/provisioner-metrics.ts'
import { type DynaKubeSpec, DynaKubes } from '../../src/index.ts'
import { startTenantSimulator, type TenantSimulator } from '../../src/tenant/simulator/index.ts'
import { helmPath } from '../support/render-chart.ts'
import { createReferences, TENANT } from './support/every-feature.ts'
import { find } from './support/find.ts'
import { type InstalledChart, installChart } from './support/installed-chart.ts'
import { UsedRights } from './support/used-rights.ts'

const CSI = 'dynatrace-oneagent-csi-driver'
const NODE = 'worker-1'
const PATIENCE_MS = 60_000

/** Never a request: the API server checks it when an owner is to block the deletion of what it owns. */
const FOR_OWNERS = /^update .*\/finalizers$/
/** An event that is repeated is patched; and what is watched is listed only by servers that cannot stream it. */
const CERTAIN_CASES = [FOR_OWNERS, /^patch events$/, /^list /]

let folder: string
let chart: InstalledChart
let simulator: TenantSimulator
let rights: UsedRights
let paths: DataPaths
let running: Promise<void> | undefined
const stop = new AbortController()

beforeAll(async () => {
  if (helmPath === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'reeve-csi-rights-'))
  paths = new DataPaths(join(folder, 'data'))
  simulator = await startTenantSimulator({ tenants: [{ id: TENANT }] })
  chart = await installChart(['csidriver.labels.team=platform'])
  rights = new UsedRights(chart.namespace)
  await createReferences(chart.admin, chart.namespace, simulator, simulator.caCertificate)
  running = runProvisioner()
  // A failure shows at the end; until then it must not be unhandled.
  running.catch(() => undefined)
})
afterAll(async () => {
  stop.abort()
  await running
  await chart?.[Symbol.asyncDispose]()
  await simulator?.close()
  if (folder !== undefined) await rm(folder, { recursive: true, force: true })
})

/** As the process does it, with the container env of the DaemonSet. */
async function runProvisioner(): Promise<void> {
  // The kind says what it is.
  const { spec } = find(chart.objects, 'DaemonSet', CSI) as unknown as DaemonSet
  const container = spec?.template.spec?.containers.find(({ name }) => name === 'provisioner')
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
  const registry = await createMetricsRegistry()
  const { manager } = createProvisioner({
    ...networkConnections(),
    client: chart.connectAs(CSI, rights.note),
    namespace: chart.namespace,
    nodeName: NODE,
    instance: NODE,
    paths,
    hostDataRoot: env.CSI_DATA_DIR ?? '',
    jobs: parseJobSettings(env['helm.json']),
    hasCsiDriver: true,
    // One clean-up at the start; another one could delete the agent of a Job before it is linked.
    cleanupPeriodMs: 3_600_000,
    readMounts: async () => [],
    metrics: provisionerMetrics(registry),
    logger: silentLogger,
  })
  await manager.run(stop.signal)
}

async function create(name: string, codeModules: object, oneAgent: DynaKubeSpec['oneAgent'], annotations = {}) {
  const key = { namespace: chart.namespace, name }
  const { admin } = chart
  await admin.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { ...key, annotations },
    spec: { apiUrl: simulator.url(TENANT), tokens: TENANT, trustedCAs: 'tenant', oneAgent },
  })
  const patch = { type: 'merge', patch: { status: { codeModules: { ...codeModules } } } } as const
  await admin.patch(DynaKubes, key, patch, { subresource: 'status' })
}

const target = (dynakube: string) => readlink(paths.latestCodeModule(dynakube)).catch(() => undefined)
const downloadJobs = async () => {
  const { items } = await chart.admin.list(Jobs, { namespace: chart.namespace })
  return items.filter(({ metadata }) => metadata.name?.startsWith('codemodule-download-'))
}

describe.skipIf(helmPath === undefined)('the CSI driver (skipped without helm)', { timeout: PATIENCE_MS }, () => {
  it('installs agents from the tenant', async () => {
    const version = simulator.tenant(TENANT).versions.available().at(-1) ?? ''
    await create('downloaded', { version }, { cloudNativeFullStack: {} })
    await chart.until('the agent', async () => (await target('downloaded')) === paths.codeModule(version))
  })

  it('installs agents by Jobs with the settings of the chart, and deletes these', async () => {
    const [version = ''] = simulator.tenant(TENANT).versions.available()
    const pulledByNode = { 'feature.dynatrace.com/node-image-pull': 'true' }
    await create('pulled', { version }, { cloudNativeFullStack: {} }, pulledByNode)
    await chart.until('a Job', async () => (await downloadJobs()).length === 1)
    const [job] = await downloadJobs()
    expect(job?.metadata.labels).toMatchObject({ team: 'platform' })
    expect(job?.spec?.template.spec).toMatchObject({
      serviceAccountName: CSI,
      priorityClassName: 'dynatrace-high-priority',
      containers: [
        {
          securityContext: { privileged: true, runAsUser: 0 },
          resources: { requests: { cpu: '200m', memory: '30Mi' } },
        },
      ],
      volumes: [{ hostPath: { path: '/var/lib/kubelet/plugins/csi.oneagent.dynatrace.com/data' } }],
    })
    // What the Job would have copied, which appears at once.
    const copied = join(folder, 'copied')
    await mkdir(join(copied, 'agent/bin/1.2.3.20250101-000000'), { recursive: true })
    await rename(copied, paths.codeModule(version))
    const touch = { metadata: { annotations: { touched: 'now' } } }
    await chart.admin.patch(DynaKubes, { namespace: chart.namespace, name: 'pulled' }, { type: 'merge', patch: touch })
    await chart.until('no Job', async () => (await downloadJobs()).length === 0)
    await chart.until('the link', async () => (await target('pulled')) === paths.codeModule(version))
  })

  it('reports failures as events', async () => {
    await create('unknown', { version: '9.9.9.20990101-000000' }, { cloudNativeFullStack: {} })
    await chart.until('an event', async () => {
      const { items } = await chart.admin.list(Events, { namespace: chart.namespace })
      return items.some(({ type, involvedObject }) => type === 'Warning' && involvedObject?.name === 'unknown')
    })
  })

  it('is refused nothing', () => {
    expect(rights.refusals).toEqual([])
  })

  it('uses every right of its Role, apart from certain cases', () => {
    const unused = rights.unused(chart.objects, 'Role', CSI)
    expect(unused.filter((right) => !CERTAIN_CASES.some((reason) => reason.test(right)))).toEqual([])
    expect(rights.unused(chart.objects, 'ClusterRole', CSI)).toEqual([])
  })
})
