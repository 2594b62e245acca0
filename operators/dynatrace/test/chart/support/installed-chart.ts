/** A cluster with RBAC on which the whole chart is installed, and a client that may do what its operator may. */
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import type { SimulatedClock } from '@reeve/http/testing'
import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  Namespaces,
  type RequestReport,
  serviceAccount,
  type UnknownObject,
} from '@reeve/kube'
import { allow, validatingWebhook, type WebhookRoute } from '@reeve/runtime'
import { convertRoute, validatingConfiguration } from '../../../src/index.ts'
import { renderChart } from '../../support/render-chart.ts'
import { until } from '../../support/until.ts'

/** What tests play on. */
export interface InstalledChart extends AsyncDisposable {
  /** May do everything. */
  readonly admin: KubeClient
  /** The namespace of the release. */
  readonly namespace: string
  /** What the chart was rendered to. */
  readonly objects: readonly UnknownObject[]
  /** A client with the rights of a ServiceAccount of the release. */
  connectAs(account: string, onRequest: (report: RequestReport) => void): KubeClient
  /** Lets time pass until the condition holds; fails with what it waited for. */
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/**
 * Installs the chart with these values into a new cluster. Hooks are left out, as by an installation.
 *
 * @param clock of the cluster and its clients; without one they have the time of the system
 */
export async function installChart(values: readonly string[] = [], clock?: SimulatedClock): Promise<InstalledChart> {
  const namespace = 'observability'
  const routes = webhookRoutes()
  const time = clock && { clock }
  const cluster = await startEmbeddedCluster({
    ...time,
    listen: false,
    authorization: 'RBAC',
    nodes: 3,
    callWebhook: ({ url, review, signal }) => routes.get(new URL(url).pathname)?.respond(review, signal),
  })
  const admin = createClient({ ...time, transport: cluster.transport, fieldManager: 'helm' })
  const objects = await renderChart(namespace, values)
  await admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  for (const object of objects) if (!isHook(object)) await apply(admin, object)
  return {
    admin,
    namespace,
    objects,
    until: (what, condition) => (clock === undefined ? until(what, condition) : clock.runUntil(condition)),
    connectAs: (account, onRequest) =>
      createClient({
        ...time,
        transport: cluster.transport,
        fieldManager: account,
        impersonate: serviceAccount({ namespace, name: account }),
        onRequest,
      }),
    [Symbol.asyncDispose]: () => cluster.stop(),
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
  const { status }: CustomResourceDefinition = await admin.get(CustomResourceDefinitions, { name })
  const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
  if (!isServed) throw new Error(`${name} is not served`)
}
