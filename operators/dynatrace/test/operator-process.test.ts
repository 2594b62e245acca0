/** `dynatrace-operator operator` as a process, started as in the chart. */
import { get } from 'node:https'
import { text } from 'node:stream/consumers'
import { runCaptured } from '@reeve/cli/testing'
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { main } from '../src/cli/main.ts'
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
let simulator: TenantSimulator

beforeAll(async () => {
  simulator = await startTenantSimulator({ tenants: [{ id: 'abc12345' }] })
})
afterAll(() => simulator?.close())

/** Opens another cluster for the tests of a suite. */
function useCluster(): void {
  beforeAll(async () => {
    cluster = await openCluster({ embedded: { nodes: 1 } })
    client = await connect({ kubeconfig: cluster.kubeconfigPath })
    namespace = await cluster.createNamespace()
  })
  afterAll(async () => {
    await client?.close()
    await cluster?.close()
  })
}

async function prepared(env: Readonly<Record<string, string>>) {
  const [health = 0, metrics = 0] = await freePorts(2)
  return {
    health,
    metrics,
    env: {
      KUBECONFIG: cluster.kubeconfigPath,
      POD_NAMESPACE: namespace,
      APP_VERSION: RELEASE,
      HEALTH_PROBE_BIND_ADDRESS: `:${health}`,
      METRICS_BIND_ADDRESS: `127.0.0.1:${metrics}`,
      ...env,
    },
  }
}

async function start(variables: Readonly<Record<string, string>>) {
  const { env, ...ports } = await prepared(variables)
  return { ...ports, child: new OperatorProcess(['operator'], env) }
}

async function installCrds(manifests = crdManifests(namespace)): Promise<void> {
  for (const manifest of manifests) {
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
  useCluster()

  it('exits immediately in a cluster without the resources, and names the version that is missing', async () => {
    const { env } = await prepared({ RUN_LOCAL: 'true' })
    const { code, stderr } = await runCaptured(main, ['operator'], { env })
    expect(code).toBe(1)
    expect(stderr).toContain('the cluster serves no DynaKube of dynatrace.com/v1beta6')
  })

  it('is alive while it waits for the webhook, then reconciles DynaKubes and nodes, and stops when asked to', async () => {
    await installCrds()
    await createPod()
    const { child, health, metrics } = await start({ POD_NAME: POD })
    try {
      await child.until('waiting', () => child.log.includes('waiting for the webhook to be installed'))
      expect(await httpStatus(health, '/livez')).toBe(200)

      await createWebhookDeployment(client, namespace)
      await child.until('certificates', async () => {
        const { data } = await client.get(Secrets, { namespace, name: CERTIFICATES_SECRET })
        return data?.['tls.crt'] !== undefined
      })
      await createDynaKube()
      await child.until('a status', hasStatus)
      expect(await httpStatus(health, '/readyz')).toBe(200)
      const exposed = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      for (const controller of ['dynakube-controller', 'nodes-controller', 'webhook-certificates']) {
        expect(exposed).toMatch(new RegExp(`reconcile_total\\{.*${controller}.*\\} [1-9]`))
      }
      expect(await leader()).toContain(POD)
      expect(await child.end('SIGTERM')).toBe(0)
      expect(child.log).not.toContain(simulator.tenants()[0]?.tokens.get('apiToken')?.value)
    } finally {
      await child.end('SIGKILL')
    }
  })
})

describe('two replicas', () => {
  useCluster()
  const pods = [POD, 'dynatrace-operator-2'] as const
  const replicas = new Map<string, Awaited<ReturnType<typeof start>>>()
  afterAll(() => Promise.all([...replicas.values()].map(({ child }) => child.end('SIGKILL'))))

  it('do without EdgeConnects when they are not installed', async () => {
    await installCrds(crdManifests(namespace).slice(0, 1))
    for (const name of pods) {
      await createPod({ 'olm.operatorNamespace': namespace }, name)
      const env = {
        POD_NAME: name,
        'modules.json': '{"oneAgent":true}',
        DT_HOST_AVAILABILITY_DETECTION: 'false',
        METRICS_PROTECTED: 'true',
        LEADER_ELECTION_RETRY_PERIOD: '1',
      }
      replicas.set(name, await start(env))
    }
    for (const { child, health } of replicas.values()) {
      await child.until('readiness', async () => (await httpStatus(health, '/readyz')) === 200)
    }
  })

  it('manage neither certificates nor nodes when disabled, and serve protected metrics to accounts that may get them only', async () => {
    await createWebhookDeployment(client, namespace)
    await createDynaKube()
    await replicas.get(POD)?.child.until('a status', hasStatus)
    const holder = await leader()
    const [, leading] = [...replicas].find(([name]) => holder.includes(name)) ?? []
    const scrape = (authorization?: string) =>
      new Promise<{ readonly status: number; readonly exposed: string }>((resolve, reject) => {
        const options = { host: '127.0.0.1', port: leading?.metrics, path: '/metrics', rejectUnauthorized: false }
        const headers = authorization === undefined ? {} : { authorization }
        get({ ...options, headers, agent: false }, (response) => {
          text(response).then((exposed) => resolve({ status: response.statusCode ?? 0, exposed }), reject)
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
    const refused = [await scrape(), await scrape('Bearer nonsense'), await scrape(stranger)]
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 403])
    await leading?.child.until('metrics', async () => (await scrape(prometheus)).status === 200)
    const { exposed } = await scrape(prometheus)
    expect(exposed).toContain('dynakube-controller')
    expect(exposed).not.toMatch(/nodes-controller|webhook-certificates/)
    const { items } = await client.list(Secrets, { namespace })
    expect(items.map(({ metadata }) => metadata.name)).not.toContain(CERTIFICATES_SECRET)
  })

  it('are led by one of them, and by the other one when that stops', async () => {
    const first = await leader()
    const [leading = '', following = ''] = pods.toSorted((one) => (first.includes(one) ? -1 : 1))
    expect([first.includes(leading), first.includes(following)]).toEqual([true, false])
    expect(await replicas.get(leading)?.child.end('SIGTERM')).toBe(0)
    const { child: other } = replicas.get(following) ?? {}
    await other?.until('the other leader', async () => (await leader()).includes(following))
    await other?.until('its controller', () => other.log.includes('dynakube-controller'))
    expect(await other?.end('SIGTERM')).toBe(0)
  })
})

const hasStatus = async () =>
  (await client.get(DynaKubes, { namespace, name: 'dynakube' })).status?.kubeSystemUUID !== undefined

const leader = async () =>
  (await client.get(Leases, { namespace, name: 'dynatrace-operator-lock' })).spec?.holderIdentity ?? ''
