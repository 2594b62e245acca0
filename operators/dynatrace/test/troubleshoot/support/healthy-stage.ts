/** An installation in which nothing is wrong, made by hand: no operator repairs what a test breaks. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCaptured } from '@reeve/cli/testing'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  DaemonSets,
  Deployments,
  type DiscoveringClient,
  EndpointSlices,
  type KubeObject,
  Namespaces,
  Pods,
  type UnknownObject,
} from '@reeve/kube'
import type { DynaKubeSpec } from '../../../src/api/latest.ts'
import { main } from '../../../src/cli/main.ts'
import { renewCertificates } from '../../../src/controllers/certificates/certificate-data.ts'
import { crdManifests, DynaKubes, mutatingConfiguration, validatingConfiguration } from '../../../src/index.ts'
import type { Finding } from '../../../src/support/troubleshoot/finding.ts'
import { startTenantSimulator, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { installCsiDriver } from '../../support/install-csi-driver.ts'
import { renderChart } from '../../support/render-chart.ts'
import { tokenKubeconfig } from '../../support/token-kubeconfig.ts'
import { until } from '../../support/until.ts'

/** The operator's namespace. */
export const NAMESPACE = 'dynatrace'
/** The tenant, the DynaKube and its token Secret. */
export const TENANT = 'abc12345'
const WEBHOOK = 'dynatrace-webhook'
const ACCESS_KINDS = new Set(['ServiceAccount', 'Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'])
const VERSION = '1.321.57.20250812-101530'
const GATEWAY_VERSION = '1.321.42.20250811-083045'

/** A report, as JSON. */
export interface Report {
  readonly code: number
  readonly passed: boolean
  readonly findings: readonly Finding[]
  readonly text: string
}

/** What tests break. */
export interface HealthyStage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: DiscoveringClient
  readonly simulator: TenantSimulator
  readonly kubeconfig: string
  /** How the webhook responds to the validation of a DynaKube. */
  webhook: 'allows' | 'denies' | 'cannot be reached'
  apply(object: UnknownObject): Promise<void>
  /** Changes the DynaKube; the returned function changes it back. */
  editDynaKube(spec: Partial<DynaKubeSpec>): Promise<() => Promise<void>>
  /** The kubeconfig of a ServiceAccount of the chart, with the rights that the chart grants it. */
  kubeconfigOf(account: string): Promise<string>
  /** Waits until everything is ready again: a Deployment that is put back has no pods yet. */
  untilReady(): Promise<void>
  /** Runs `troubleshoot --output json`. */
  troubleshoot(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Report>
}

const encoded = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]))

/** A Secret in the operator's namespace. */
export const secret = (name: string, texts: Readonly<Record<string, string>>): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: NAMESPACE, name },
  data: encoded(texts),
})

/** A pod that has been injected. */
export const pod = (name: string, annotations: Readonly<Record<string, string>> = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name, annotations },
  spec: { containers: [{ name: 'main', image: 'web:1' }] },
})

/** The certificate Secret and both webhook configurations, as of a moment. */
export async function webhookObjects(nowMs: number): Promise<readonly UnknownObject[]> {
  const { data } = await renewCertificates({}, `${WEBHOOK}.${NAMESPACE}.svc`, nowMs)
  const caBundle = Buffer.from(data['ca.crt']).toString('base64')
  const clientConfig = (path: string) => ({ service: { namespace: NAMESPACE, name: WEBHOOK, path }, caBundle })
  const objects: readonly KubeObject[] = [validatingConfiguration(clientConfig), mutatingConfiguration(clientConfig)]
  // Objects of typed kinds, applied like any other.
  return [secret(`${WEBHOOK}-certs`, data), ...(objects as readonly UnknownObject[])]
}

/** Sets the stage. */
export async function setHealthyStage(): Promise<HealthyStage> {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'reeve-troubleshoot-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  const simulator = started.use(await startTenantSimulator({ tenants: [{ id: TENANT }] }))
  const state = { webhook: 'allows' as HealthyStage['webhook'] }
  const cluster = started.use(
    await startEmbeddedCluster({
      nodes: 2,
      controllers: { honourProbeDelays: false },
      callWebhook: ({ url, review }) =>
        state.webhook === 'cannot be reached' ? undefined : respond(url, review, state),
    }),
  )
  const kubeconfig = join(folder, 'kubeconfig')
  await cluster.writeKubeconfig(kubeconfig)
  const client = await connect({ kubeconfig, env: {}, fieldManager: 'test' })
  started.defer(() => client.close())
  const apply = async (object: UnknownObject) => {
    await client.apply(await client.resourceFor(object), object, { force: true })
  }
  for (const name of [NAMESPACE, 'shop', 'elsewhere']) {
    const labels: Record<string, string> =
      name === 'shop' ? { 'dynakube.internal.dynatrace.com/instance': TENANT, team: 'shop' } : {}
    await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
  }
  for (const manifest of crdManifests(NAMESPACE)) {
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  for (const object of await installation(simulator)) await apply(object)
  await installCsiDriver(client, NAMESPACE)
  await createDynaKube(client, simulator)
  for (const object of await webhookObjects(Date.now())) await apply(object)
  await apply(
    pod('injected', {
      'oneagent.dynatrace.com/injected': 'true',
      'metadata-enrichment.dynatrace.com/injected': 'true',
    }),
  )
  await untilReady(client)
  const kept = started.move()
  return {
    cluster,
    client,
    simulator,
    kubeconfig,
    apply,
    get webhook() {
      return state.webhook
    },
    set webhook(value) {
      state.webhook = value
    },
    async editDynaKube(spec) {
      const key = { namespace: NAMESPACE, name: TENANT }
      const before = await client.get(DynaKubes, key)
      const edit = async (change: Partial<DynaKubeSpec>) => {
        const { spec: now, ...rest } = await client.get(DynaKubes, key)
        await client.update(DynaKubes, { ...rest, spec: { ...now, ...change } })
      }
      await edit(spec)
      return async () => {
        const { metadata } = await client.get(DynaKubes, key)
        await client.update(DynaKubes, {
          ...before,
          metadata: { ...before.metadata, resourceVersion: metadata.resourceVersion },
        })
      }
    },
    async kubeconfigOf(account) {
      for (const object of await renderChart(NAMESPACE)) if (ACCESS_KINDS.has(object.kind)) await apply(object)
      const path = join(folder, account)
      await writeFile(path, await tokenKubeconfig(kubeconfig, client, { namespace: NAMESPACE, account }), {
        mode: 0o600,
      })
      return path
    },
    untilReady: () => untilReady(client),
    async troubleshoot(args = [], env = {}) {
      const words = ['troubleshoot', '-n', NAMESPACE, '--output', 'json', ...args]
      const { code, stdout, stderr } = await runCaptured(main, words, { env: { KUBECONFIG: kubeconfig, ...env } })
      if (stdout === '') throw new Error(`troubleshoot exited with ${code}: ${stderr}`)
      return { code, text: stdout, ...(JSON.parse(stdout) as Pick<Report, 'passed' | 'findings'>) }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

type Review = { readonly request?: { readonly uid?: string } }

async function respond(url: string, review: object, { webhook }: Pick<HealthyStage, 'webhook'>) {
  const { request } = review as Review
  const isDenied = webhook === 'denies' && new URL(url).pathname.startsWith('/validate')
  const status = { message: 'spec.apiUrl: is missing' }
  const response = { uid: request?.uid ?? '', allowed: !isDenied, ...(isDenied && { status }) }
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }
}

const deployment = (name: string, labels: Readonly<Record<string, string>>): UnknownObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: NAMESPACE, name },
  spec: {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'operator:1' }] } },
  },
})

/** The Lease of the operator, renewed at this time. Nobody renews it here, so it lasts for long. */
export const lease = (renewedMs: number): UnknownObject => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { namespace: NAMESPACE, name: 'dynatrace-operator-lock' },
  spec: {
    holderIdentity: 'dynatrace-operator-7c9f',
    leaseDurationSeconds: 3_600,
    renewTime: new Date(renewedMs).toISOString().replace('Z', '000Z'),
  },
})

async function installation(simulator: TenantSimulator): Promise<readonly UnknownObject[]> {
  const { tokens } = simulator.tenant(TENANT)
  const apiToken = tokens.get('apiToken')?.value ?? ''
  const auth = Buffer.from(`${TENANT}:${apiToken}`).toString('base64')
  return [
    secret(TENANT, { apiToken, dataIngestToken: tokens.get('dataIngestToken')?.value ?? '' }),
    secret(`${TENANT}-pull-secret`, {
      '.dockerconfigjson': JSON.stringify({ auths: { [simulator.registry.host]: { auth } } }),
    }),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: NAMESPACE, name: 'tenant' },
      data: { certs: simulator.caCertificate },
    },
    deployment(WEBHOOK, { 'internal.dynatrace.com/app': 'webhook' }),
    deployment('dynatrace-operator', { name: 'dynatrace-operator' }),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace: NAMESPACE, name: WEBHOOK },
      spec: { selector: { 'internal.dynatrace.com/app': 'webhook' }, ports: [{ port: 443, targetPort: 8443 }] },
    },
    lease(Date.now()),
  ]
}

/** With the status that the operator would have written. */
async function createDynaKube(client: DiscoveringClient, simulator: TenantSimulator): Promise<void> {
  const metadata = { namespace: NAMESPACE, name: TENANT }
  const codeModules = `${simulator.registry.host}/dynatrace/dynatrace-codemodules:${VERSION}`
  const created = await client.create(DynaKubes, {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata,
    spec: {
      apiUrl: simulator.url(TENANT),
      trustedCAs: 'tenant',
      oneAgent: {
        cloudNativeFullStack: { codeModulesImage: codeModules, namespaceSelector: { matchLabels: { team: 'shop' } } },
      },
      activeGate: { capabilities: ['routing'] },
    },
  })
  const image = (name: string, version: string) => `${simulator.registry.host}/dynatrace/${name}:${version}`
  await client.update(
    DynaKubes,
    {
      ...created,
      status: {
        phase: 'Running',
        kubeSystemUUID: 'cluster',
        oneAgent: {
          imageID: image('dynatrace-oneagent', VERSION),
          version: VERSION,
          connectionInfoStatus: { tenantUUID: TENANT },
        },
        activeGate: { imageID: image('dynatrace-activegate', GATEWAY_VERSION), version: GATEWAY_VERSION },
        codeModules: { imageID: codeModules, version: VERSION },
      },
    },
    { subresource: 'status' },
  )
}

async function untilReady(client: DiscoveringClient): Promise<void> {
  await until('the webhook, the CSI driver and the pod', async () => {
    const { status } = await client.get(Deployments, { namespace: NAMESPACE, name: WEBHOOK })
    const operator = await client.get(Deployments, { namespace: NAMESPACE, name: 'dynatrace-operator' })
    if (operator.status?.readyReplicas !== 1) return false
    const driver = await client.get(DaemonSets, { namespace: NAMESPACE, name: 'dynatrace-oneagent-csi-driver' })
    const { status: injected } = await client.get(Pods, { namespace: 'shop', name: 'injected' })
    const slices = await client.list(EndpointSlices, {
      namespace: NAMESPACE,
      labelSelector: `kubernetes.io/service-name=${WEBHOOK}`,
    })
    const isServed = slices.items.some(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready))
    return status?.readyReplicas === 1 && isServed && driver.status?.numberReady === 2 && injected?.phase === 'Running'
  })
}
