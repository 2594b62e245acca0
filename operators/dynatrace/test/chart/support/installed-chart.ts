/** A cluster with RBAC on which the whole chart is installed, and a client that may do what its operator may. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  connect,
  type KubeClient,
  Namespaces,
  type RequestReport,
  sleep,
  type UnknownObject,
} from '@reeve/kube'
import { allow, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import { convertRoute, validatingConfiguration } from '../../../src/index.ts'
import { renderChart } from '../../support/render-chart.ts'
import { tokenKubeconfig } from '../../support/token-kubeconfig.ts'

/** Longer than a loaded machine needs. */
const PATIENCE_MS = 120_000

/** What tests play on. */
export interface InstalledChart extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  /** May do everything. */
  readonly admin: KubeClient
  /** The namespace of the release. */
  readonly namespace: string
  /** What the chart was rendered to. */
  readonly objects: readonly UnknownObject[]
  /** A client with the token of a ServiceAccount of the release. */
  connectAs(account: string, onRequest: (report: RequestReport) => void): Promise<KubeClient>
  /** Polls until the condition holds; fails with what it waited for. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Installs the chart with these values into a new cluster. Hooks are left out, as by an installation. */
export async function installChart(values: readonly string[] = []): Promise<InstalledChart> {
  const namespace = 'observability'
  const folder = await mkdtemp(join(tmpdir(), 'reeve-chart-'))
  const routes = webhookRoutes()
  const cluster = await startEmbeddedCluster({
    authorization: 'RBAC',
    nodes: 3,
    callWebhook: ({ url, review, signal }) => routes.get(new URL(url).pathname)?.respond(review, signal),
  })
  const path = join(folder, 'admin')
  await cluster.writeKubeconfig(path)
  const admin = await connect({ kubeconfig: path, fieldManager: 'helm' })
  const objects = await renderChart(namespace, values)
  await admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const object of objects) if (!isHook(object)) await apply(admin, object)
  const connected: KubeClient[] = [admin]
  return {
    cluster,
    admin,
    namespace,
    objects,
    until,
    async connectAs(account, onRequest) {
      const kubeconfig = join(folder, account)
      await writeFile(kubeconfig, await tokenKubeconfig(path, admin, { namespace, account }), { mode: 0o600 })
      const client = await connect({ kubeconfig, fieldManager: account, onRequest })
      connected.push(client)
      return client
    },
    async [Symbol.asyncDispose]() {
      for (const client of connected) await client.close()
      await cluster.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Conversion is real; validation is not tested here. */
function webhookRoutes(): ReadonlyMap<string, WebhookRoute> {
  const paths: string[] = []
  validatingConfiguration((path) => {
    paths.push(path)
    return {}
  })
  const routes = [convertRoute(), ...paths.map((path) => validatingWebhook(path, async () => allow()))]
  return new Map(routes.map((route) => [route.path, route]))
}

const isHook = ({ metadata }: UnknownObject): boolean => metadata.annotations?.['helm.sh/hook'] !== undefined

async function apply(admin: KubeClient, object: UnknownObject): Promise<void> {
  await admin.apply(await admin.resourceFor(object), object, { force: true, fieldValidation: 'Strict' })
  if (object.kind !== 'CustomResourceDefinition') return
  const { name = '' } = object.metadata
  await until(`${name} to be served`, async () => {
    const { status }: CustomResourceDefinition = await admin.get(CustomResourceDefinitions, { name })
    return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') ?? false
  })
}

async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(PATIENCE_MS)
  while (!(await condition())) {
    if (deadline.aborted) throw new Error(`timed out waiting for ${what}`)
    await sleep(50)
  }
}
