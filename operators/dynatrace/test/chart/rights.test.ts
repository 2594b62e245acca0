/** The operator with the rights of its ServiceAccount: it needs no others, and these for a reason. */
import { setTimeout } from 'node:timers/promises'
import { SimulatedClock } from '@reeve/http/testing'
import {
  ConfigMaps,
  CustomResourceDefinitions,
  type DaemonSet,
  DaemonSets,
  type Deployment,
  Deployments,
  isNotFound,
  type KubeClient,
  type KubeObject,
  Leases,
  Namespaces,
  Nodes,
  Pods,
  type Resource,
  Secrets,
  ServiceAccounts,
  Services,
  type StatefulSet,
  StatefulSets,
} from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CERTIFICATE, fixedCertificate } from '../../exploration/dynatrace-under-test.ts'
import { ALL_MODULES } from '../../src/api/validation/modules.ts'
import { ISTIO_KINDS } from '../../src/controllers/dynakube/components/istio/resources.ts'
import { NODE_CACHE } from '../../src/controllers/nodes/node-table.ts'
import {
  CERTIFICATES_SECRET,
  clusterIdOf,
  createDynatraceOperator,
  DynaKubeCrd,
  DynaKubes,
  EdgeConnects,
  WEBHOOK_NAME,
} from '../../src/index.ts'
import { requireServedVersions } from '../../src/served-versions.ts'
import { startUp } from '../../src/start-up.ts'
import { SimulatedTenants } from '../../src/tenant/simulator/index.ts'
import { installIstio } from '../dynakube/support/istio-crds.ts'
import { withoutSockets } from '../dynakube/support/stage.ts'
import { helmPath } from '../support/render-chart.ts'
import { createReferences, EDGE, edgeConnect, everyFeature, INJECTED, TENANT } from './support/every-feature.ts'
import { type InstalledChart, installChart } from './support/installed-chart.ts'
import { UsedRights } from './support/used-rights.ts'

const OPERATOR = 'dynatrace-operator'

/** Never a request: the API server requires it for blockOwnerDeletion. */
const FOR_OWNERS = /^update .*\/finalizers$/
/** After a creation that failed because the object exists, or a conflict over a finalizer. */
const AFTER_CONFLICTS =
  /^get (apps\/(daemonsets|statefulsets)|configmaps|services|networking\.istio\.io\/.*|dynatrace\.com\/.*)$/
/** What is watched is listed only by API servers that cannot stream the first state. */
const WITHOUT_STREAMS = /^list /
const CERTAIN_CASES = [FOR_OWNERS, AFTER_CONFLICTS, WITHOUT_STREAMS]

let chart: InstalledChart
let simulator: SimulatedTenants
let rights: UsedRights
let client: KubeClient
let running: Promise<void> | undefined
const stop = new AbortController()
/** Requests wait for what takes real time, such as a signature. */
const clock = new SimulatedClock({ settle: () => setTimeout(2) })

beforeAll(async () => {
  if (helmPath === undefined) return
  simulator = new SimulatedTenants({ tenants: [{ id: TENANT }], clock })
  const { connectionInfo } = simulator.tenant(TENANT)
  connectionInfo.endpoints = ['https://10.0.0.1:8000/communication', 'https://endpoint.example.com/communication']
  chart = await installChart([], clock)
  rights = new UsedRights(chart.namespace)
  await installIstio(chart.admin)
  await createReferences(chart.admin, chart.namespace, simulator, CERTIFICATE)
  const metadata = { name: 'shop', labels: INJECTED }
  await chart.admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata })
  client = chart.connectAs(OPERATOR, rights.note)
})
afterAll(async () => {
  stop.abort()
  if (running !== undefined) await clock.runToCompletion(running)
  await chart?.[Symbol.asyncDispose]()
})

const key = (name: string) => ({ namespace: chart.namespace, name })
const merge = (patch: object) => ({ type: 'merge', patch: { ...patch } }) as const
const isGone = (read: Promise<unknown>) =>
  read.then(
    () => false,
    (error: unknown) => {
      if (isNotFound(error)) return true
      throw error
    },
  )

/** The operator's own pod, which the simulated nodes run. */
async function ownPod(): Promise<string | undefined> {
  const { items } = await chart.admin.list(Pods, { namespace: chart.namespace, labelSelector: `name=${OPERATOR}` })
  return items[0]?.metadata.name
}

/** As the process does it, from the first request on. */
async function runOperator(podName: string): Promise<void> {
  const { namespace } = chart
  const { signal } = stop
  await requireServedVersions(client, ALL_MODULES, { signal })
  await client.get(Pods, key(podName), { signal, metadataOnly: true })
  const healthAddress = { host: '127.0.0.1', port: 0 }
  const first = { client, clock, namespace, healthAddress, logger: silentLogger, signal }
  await startUp({ ...first, issuesCertificates: true, migratesStorage: true })
  const { manager } = createDynatraceOperator({
    ...withoutSockets(simulator, Math.random),
    client,
    clock,
    selfSigned: fixedCertificate,
    namespace,
    podName,
    instance: podName,
    clusterId: await clusterIdOf(client, { signal }),
    operator: { version: '0.1.0', image: 'registry.example.com/dynatrace-operator:v0.1.0', hasCsiDriver: true },
    release: { version: '0.1.0' },
    detectsHostAvailability: true,
    // Otherwise it would be minutes until agents are noticed, and the nodes below them.
    instancesIntervalMs: 1,
    leaderElection: { lease: key('dynatrace-operator-lock'), identity: podName },
  })
  await manager.run(signal)
}

/** Changes a label that one of the operator's objects of this kind has, and waits until it is reverted. */
async function disturb(resource: Resource, owner: string): Promise<void> {
  const { admin, namespace } = chart
  const { items } = await admin.list<KubeObject>(resource, { namespace })
  const owned = items.find(
    ({ metadata }) => metadata.labels && metadata.ownerReferences?.some(({ name }) => name === owner),
  )
  const { name = '', labels = {} } = owned?.metadata ?? {}
  const [[label, value] = []] = Object.entries(labels)
  if (label === undefined) throw new Error(`${owner} has no ${resource.kind} with a label`)
  await admin.patch<KubeObject>(resource, key(name), merge({ metadata: { labels: { [label]: 'disturbed' } } }))
  await touch()
  await chart.until(`${resource.kind} ${name} as it was`, async () => {
    return (await admin.get<KubeObject>(resource, key(name))).metadata.labels?.[label] === value
  })
}

let touches = 0
/** Triggers a reconcile of the DynaKube: not everything is watched. */
async function touch(): Promise<void> {
  touches += 1
  await chart.admin.patch(DynaKubes, key(TENANT), merge({ metadata: { annotations: { touched: `${touches}` } } }))
}

describe.skipIf(helmPath === undefined)('the operator (skipped without helm)', () => {
  it('starts: with certificates, stored versions and CRDs of its release', async () => {
    const { admin } = chart
    // As after an upgrade: something is left to migrate, and the CRDs are those of another release.
    const { name } = DynaKubeCrd
    const labels = { 'app.kubernetes.io/version': '0.0.9' }
    const crd = await admin.patch(CustomResourceDefinitions, { name }, merge({ metadata: { labels } }))
    const status = { ...crd.status, storedVersions: ['v1beta5', 'v1beta6'] }
    await admin.update(CustomResourceDefinitions, { ...crd, status }, { subresource: 'status' })
    await admin.create(DynaKubes, everyFeature(chart.namespace, simulator))
    await chart.until('the pod of the operator', async () => (await ownPod()) !== undefined)
    running = runOperator((await ownPod()) ?? '')
    // A failure shows at the end; until then it must not be unhandled.
    running.catch(() => undefined)
    await chart.until('nothing left to migrate', async () => {
      const { status: now } = await admin.get(CustomResourceDefinitions, { name })
      return now?.storedVersions?.join() === 'v1beta6'
    })
  })

  it('rolls everything out, with pods that the accounts of the chart let run', async () => {
    const { admin, namespace } = chart
    await admin.create(EdgeConnects, edgeConnect(namespace, simulator))
    await chart.until('a DynaKube that runs', async () => {
      return (await admin.get(DynaKubes, key(TENANT))).status?.phase === 'Running'
    })
    await chart.until('an EdgeConnect that runs', async () => {
      return (await admin.get(EdgeConnects, key(EDGE))).status?.phase === 'Running'
    })
    const kinds = [DaemonSets, Deployments, StatefulSets] as readonly Resource<DaemonSet | Deployment | StatefulSet>[]
    const lists = await Promise.all(kinds.map((kind) => admin.list(kind, { namespace })))
    const accounts = lists.flatMap(({ items }) => items.map(({ spec }) => spec?.template.spec?.serviceAccountName))
    const { items } = await admin.list(ServiceAccounts, { namespace })
    const known = items.map(({ metadata }) => metadata.name)
    expect(accounts.filter((account) => !known.includes(account ?? ''))).toEqual([])
    expect([...new Set(accounts)].sort()).toEqual([
      'dynatrace-activegate',
      'dynatrace-dynakube-oneagent',
      'dynatrace-edgeconnect',
      'dynatrace-extension-controller',
      'dynatrace-node-config-collector',
      'dynatrace-oneagent-csi-driver',
      'dynatrace-operator',
      'dynatrace-otel-collector',
      'dynatrace-sql-ext-exec',
      'dynatrace-webhook',
    ])
  })

  it('reverts manual changes', async () => {
    const { admin } = chart
    for (const kind of [ConfigMaps, Secrets, Services, DaemonSets, StatefulSets, ...ISTIO_KINDS]) {
      await disturb(kind, TENANT)
    }
    await disturb(Deployments, EDGE)
    const copy = { namespace: 'shop', name: 'dynatrace-bootstrapper-config' }
    const label = 'app.kubernetes.io/component'
    await admin.patch(Secrets, copy, merge({ metadata: { labels: { [label]: 'foreign' } } }))
    await touch()
    await chart.until('the copy as it was', async () => {
      return (await admin.get(Secrets, copy)).metadata.labels?.[label] !== 'foreign'
    })
    await admin.patch(Secrets, key(CERTIFICATES_SECRET), merge({ data: { 'tls.crt': '' } }))
    await admin.patch(Deployments, key(WEBHOOK_NAME), merge({ metadata: { annotations: { touched: 'now' } } }))
    await chart.until('another certificate', async () => {
      return (await admin.get(Secrets, key(CERTIFICATES_SECRET))).data?.['tls.crt'] !== ''
    })
  })

  it('reports a node that is removed', async () => {
    const { admin } = chart
    const { items } = await admin.list(Nodes)
    const { name = '' } = items[0]?.metadata ?? {}
    await chart.until('agents in the status', async () => {
      await touch()
      return (await admin.get(DynaKubes, key(TENANT))).status?.oneAgent?.instances?.[name] !== undefined
    })
    await admin.patch(Nodes, { name }, merge({ spec: { unschedulable: true } }))
    await chart.until('a note of it', async () => {
      return (await admin.get(ConfigMaps, key(NODE_CACHE))).data?.[name]?.includes('marked') ?? false
    })
  })

  it('applies changes and reverts them', async () => {
    const { admin } = chart
    // Without agents on the nodes, logs have separate agents.
    const off = { oneAgent: null, kspm: null, extensions: null, telemetryIngest: null, enableIstio: false }
    await admin.patch(DynaKubes, key(TENANT), merge({ spec: off }))
    await chart.until('agents for logs', async () => {
      return !(await isGone(admin.get(DaemonSets, key(`${TENANT}-logmonitoring`))))
    })
    await chart.until('no other agents', () => isGone(admin.get(DaemonSets, key(`${TENANT}-oneagent`))))
    await chart.until('no executors', async () => {
      const { items } = await admin.list(Deployments, { namespace: chart.namespace })
      return items.every(({ metadata }) => metadata.ownerReferences?.[0]?.kind !== 'DynaKube')
    })
    await admin.delete(EdgeConnects, key(EDGE))
    await chart.until('no EdgeConnect', () => isGone(admin.get(EdgeConnects, key(EDGE))))
    await admin.delete(DynaKubes, key(TENANT))
    const copy = { namespace: 'shop', name: 'dynatrace-bootstrapper-config' }
    await chart.until('no copies', () => isGone(admin.get(Secrets, copy)))
  })

  it('renews its Lease', async () => {
    const renewals = async () => (await chart.admin.get(Leases, key('dynatrace-operator-lock'))).spec?.renewTime
    const before = await renewals()
    await chart.until('a renewal', async () => (await renewals()) !== before)
  })

  it('is refused nothing', () => {
    expect(rights.refusals).toEqual([])
  })

  it.each(['Role', 'ClusterRole'] as const)('uses every right of its %s, apart from certain cases', (kind) => {
    const unused = rights.unused(chart.objects, kind, OPERATOR)
    expect(unused.filter((right) => !CERTAIN_CASES.some((reason) => reason.test(right)))).toEqual([])
  })
})
