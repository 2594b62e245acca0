/** `dynatrace-operator operator` as a process, started as in the chart. */
import { get } from 'node:https'
import { accountToken, type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import {
  ClusterRoleBindings,
  ClusterRoles,
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  type KubeClient,
  Leases,
  Pods,
  Secrets,
  ServiceAccounts,
} from '@reeve/kube'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CRD_VERSION_LABEL } from '../src/controllers/crd-version/crd-version.ts'
import { encodeSecret } from '../src/controllers/rendering/secret-data.ts'
import { CERTIFICATES_SECRET, crdManifests, DynaKubes } from '../src/index.ts'
import { startTenantSimulator, type TenantSimulator } from '../src/tenant/simulator/index.ts'
import { freePorts, httpStatus, OperatorProcess } from './support/operator-process.ts'
import { createWebhookDeployment } from './support/webhook-deployment.ts'

const POD = 'dynatrace-operator-1'
const RELEASE = '1.8.1'

let cluster: ClusterUnderTest
let client: KubeClient
let namespace: string
let simulator: TenantSimulator | undefined
let child: OperatorProcess | undefined
/** A second replica. */
let other: OperatorProcess | undefined

beforeEach(async () => {
  cluster = await openCluster({ embedded: { nodes: 1 } })
  client = await connect({ kubeconfig: cluster.kubeconfigPath })
  namespace = await cluster.createNamespace()
})
afterEach(async () => {
  await Promise.all([child, other].map((each) => each?.end('SIGKILL')))
  child = undefined
  other = undefined
  await simulator?.close()
  simulator = undefined
  await client.close()
  await cluster.close()
})

async function start(env: Readonly<Record<string, string>> = {}) {
  const [health = 0, metrics = 0] = await freePorts(2)
  child = new OperatorProcess(['operator'], {
    KUBECONFIG: cluster.kubeconfigPath,
    POD_NAMESPACE: namespace,
    APP_VERSION: RELEASE,
    HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
    METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
    ...env,
  })
  return { child, health, metrics }
}

async function installCrds(): Promise<void> {
  for (const manifest of crdManifests(namespace)) {
    // The manifest keeps its spec open; the cluster checks it.
    const crd = manifest as unknown as CustomResourceDefinition
    const labels = { [CRD_VERSION_LABEL]: RELEASE }
    await client.create(CustomResourceDefinitions, { ...crd, metadata: { ...crd.metadata, labels } })
  }
}

async function createPod(annotations: Readonly<Record<string, string>> = {}, name = POD): Promise<void> {
  const labels = { app: 'operator' }
  const spec = { containers: [{ name: 'operator', image: 'operator:1' }] }
  const metadata = { namespace, name, labels, annotations }
  await client.create(Pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
}

async function createDynaKube(): Promise<void> {
  simulator = await startTenantSimulator({ tenants: [{ id: 'abc12345' }] })
  const [tenant] = simulator.tenants()
  await client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'dynakube' },
    data: encodeSecret({ apiToken: tenant?.tokens.get('apiToken')?.value ?? '' }),
  })
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: 'trust' },
    data: { certs: simulator.caCertificate },
  })
  await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace, name: 'dynakube' },
    spec: { apiUrl: simulator.url('abc12345'), trustedCAs: 'trust', oneAgent: { hostMonitoring: {} } },
  })
}

describe('the process', () => {
  it('is alive while it waits for the webhook, then reconciles DynaKubes and nodes, and stops when asked to', async () => {
    await installCrds()
    await createPod()
    const { child, health, metrics } = await start({ POD_NAME: POD })
    await child.until('waiting', () => child.log.includes('waiting for the webhook to be installed'))
    expect(await httpStatus(health, '/livez')).toBe(200)

    await createWebhookDeployment(client, namespace)
    await child.until('certificates', async () => {
      const { data } = await client.get(Secrets, { namespace, name: CERTIFICATES_SECRET })
      return data?.['tls.crt'] !== undefined
    })
    await createDynaKube()
    await child.until('a status', async () => {
      const { status } = await client.get(DynaKubes, { namespace, name: 'dynakube' })
      return status?.kubeSystemUUID !== undefined
    })
    expect(await httpStatus(health, '/readyz')).toBe(200)
    const exposed = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    for (const controller of ['dynakube-controller', 'nodes-controller', 'webhook-certificates']) {
      expect(exposed).toMatch(new RegExp(`reconcile_total\\{.*${controller}.*\\} [1-9]`))
    }
    const { spec } = await client.get(Leases, { namespace, name: 'dynatrace-operator-lock' })
    expect(spec?.holderIdentity).toContain(POD)
    expect(await child.end('SIGTERM')).toBe(0)
    expect(child.log).not.toContain(simulator?.tenants()[0]?.tokens.get('apiToken')?.value)
  })

  it('does not manage certificates and nodes when disabled', async () => {
    await installCrds()
    await createPod({ 'olm.operatorNamespace': namespace })
    const { child, health, metrics } = await start({ POD_NAME: POD, DT_HOST_AVAILABILITY_DETECTION: 'false' })
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    await createWebhookDeployment(client, namespace)
    await createDynaKube()
    await child.until('a status', async () => {
      const { status } = await client.get(DynaKubes, { namespace, name: 'dynakube' })
      return status?.kubeSystemUUID !== undefined
    })
    const exposed = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    expect(exposed).toContain('dynakube-controller')
    expect(exposed).not.toMatch(/nodes-controller|webhook-certificates/)
    const { items } = await client.list(Secrets, { namespace })
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(CERTIFICATES_SECRET)
    expect(await child.end('SIGTERM')).toBe(0)
  })

  it('serves protected metrics to accounts that may get them only', async () => {
    await installCrds()
    await createPod({ 'olm.operatorNamespace': namespace })
    const { child, health, metrics } = await start({ POD_NAME: POD, METRICS_PROTECTED: 'true' })
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    const scrape = (authorization?: string) =>
      new Promise<number>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: metrics, path: '/metrics', rejectUnauthorized: false, agent: false }
        const headers = authorization === undefined ? {} : { authorization }
        get({ ...options, headers }, (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        }).on('error', reject)
      })
    const tokenOf = async (name: string) => {
      const metadata = { namespace, name }
      await client.create(ServiceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata })
      return `Bearer ${await accountToken(cluster, namespace, name)}`
    }
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: `metrics-${namespace}` } }
    const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]
    await client.create(ClusterRoles, { ...role, kind: 'ClusterRole', rules })
    await client.create(ClusterRoleBindings, {
      ...role,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
      subjects: [{ kind: 'ServiceAccount', namespace, name: 'prometheus' }],
    })
    const [stranger, prometheus] = [await tokenOf('stranger'), await tokenOf('prometheus')]
    expect([await scrape(), await scrape('Bearer nonsense'), await scrape(stranger)]).toEqual([401, 401, 403])
    await child.until('metrics', async () => (await scrape(prometheus)) === 200)
    expect(await child.end('SIGTERM')).toBe(0)
  })

  it('is led by one of two replicas, and by the other one when that stops', async () => {
    await installCrds()
    const pods = [POD, 'dynatrace-operator-2'] as const
    for (const name of pods) await createPod({ 'olm.operatorNamespace': namespace }, name)
    const replicas = new Map<string, Awaited<ReturnType<typeof start>>>()
    for (const name of pods) replicas.set(name, await start({ POD_NAME: name, LEADER_ELECTION_RETRY_PERIOD: '1' }))
    other = replicas.get(POD)?.child
    const holder = async () =>
      (await client.get(Leases, { namespace, name: 'dynatrace-operator-lock' })).spec?.holderIdentity ?? ''
    for (const { child: replica, health } of replicas.values()) {
      await replica.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    }
    await child?.until('a leader', async () => (await holder()) !== '')
    const first = await holder()
    const [leader = '', follower = ''] = pods.toSorted((one) => (first.includes(one) ? -1 : 1))
    expect([first.includes(leader), first.includes(follower)]).toEqual([true, false])
    expect(await replicas.get(leader)?.child.end('SIGTERM')).toBe(0)
    await replicas.get(follower)?.child.until('the other leader', async () => (await holder()).includes(follower))
  })

  it('exits immediately in a cluster without the resources, and names the version that is missing', async () => {
    const { child } = await start({ RUN_LOCAL: 'true' })
    await child.until('its end', () => child.exitCode !== null)
    expect(child.exitCode).toBe(1)
    expect(child.log).toContain('the cluster serves no DynaKube of dynatrace.com/v1beta6')
  })

  it('does without EdgeConnects when they are not installed', async () => {
    const [dynakubes] = crdManifests(namespace)
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, dynakubes as unknown as CustomResourceDefinition)
    const { child, health } = await start({ RUN_LOCAL: 'true', 'modules.json': '{"oneAgent":true}' })
    await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    await child.until('leadership', () => child.log.includes('dynakube-controller'))
    expect(await child.end('SIGTERM')).toBe(0)
  })
})
