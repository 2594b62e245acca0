/** The Dynatrace operator and its webhooks in the demo: a DynaKube, an EdgeConnect and an application that is injected. */
import { readFile } from 'node:fs/promises'
import { findClientBinary } from '@reeve/client-binaries'
import {
  CONVERT_PATH,
  clusterIdOf,
  crdManifests,
  createDynatraceOperator,
  type DynaKube,
  DynaKubes,
  type EdgeConnect,
  EdgeConnects,
} from '@reeve/dynatrace'
import { startTenantSimulator, type TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import { sleep } from '@reeve/http'
import { type KubeClient, type KubeObject, Namespaces, type Resource, type UnknownObject } from '@reeve/kube'
import { parse } from 'yaml'
import { applyCrd, FIELD_MANAGER } from './apply-crd.ts'
import { applyChart } from './chart-objects.ts'
import { OAUTH_CLIENT, TENANT, TRUST, tenantObjects } from './dynatrace-tenant.ts'
import { startWebhooks } from './dynatrace-webhooks.ts'
import { bookshopState, openBookshop } from './injected-application.ts'
import { colourOf, type Narrated, type NarratedKind } from './narrator.ts'
import { connectAsOperator } from './operator-account.ts'
import type { OpenScene, Scene, SceneStage } from './scene.ts'

const NAMESPACE = 'dynatrace'
const VERSION = '0.1.0'
const SAMPLES = new URL('../../../operators/dynatrace/samples/', import.meta.url)

const narrated = (resource: Resource<DynaKube> | Resource<EdgeConnect>): NarratedKind => ({
  // The narrator reads what all kinds have in common.
  resource: resource as Resource<Narrated>,
  describe({ status }) {
    const word = status?.phase ?? 'Created'
    const failing = status?.conditions?.find((condition) => condition.status === 'False' && condition.message)
    return { word, colour: colourOf(word), detail: failing?.message ?? '' }
  },
})

/** Agents, gateways, logs, extensions, security posture, and a way from the tenant into the cluster. */
export const dynatraceScene: Scene = {
  title: 'Dynatrace: a DynaKube with everything, an EdgeConnect and an injected application, in a simulated tenant',
  kubectlNames: 'dynakubes,edgeconnects',
  hint: 'kubectl edit dynakube -n dynatrace dynakube: remove a feature and see it go, or write nonsense and see it denied',
  kinds: [narrated(DynaKubes), narrated(EdgeConnects)],
  async obstacle({ hasSimulatedNodes }) {
    if (!hasSimulatedNodes) return 'a simulated tenant has no agents that real nodes could run'
    if ((await findClientBinary('helm')) === undefined) return 'its CSI driver comes with a chart: put helm on PATH'
    return undefined
  },
  open: openDynatraceScene,
}

async function openDynatraceScene(stage: SceneStage, signal: AbortSignal): Promise<OpenScene> {
  const { client, logger } = stage
  // Stopped immediately if something below fails, and otherwise when the scene is closed.
  await using started = new AsyncDisposableStack()
  const simulator = started.use(await startTenantSimulator({ tenants: [{ id: TENANT }] }))
  await prepare(client, simulator, signal)
  // The demo has a console, which shows injected pods.
  const values = { console: { enabled: true, readPods: true } }
  const chart = { operator: 'dynatrace', release: 'dynatrace-operator', namespace: NAMESPACE, values }
  const image = `registry.example.com/dynatrace-operator:v${VERSION}`
  const account = await connectAsOperator(stage, chart, signal)
  // Agents on nodes and injected pods have volumes of the driver: without it they would not start.
  const helm = (await findClientBinary('helm')) ?? ''
  await applyChart(client, helm, chart, isOfCsiDriver, signal)
  const webhooks = started.use(await startWebhooks(stage, { chart, image }, signal))
  for (const { spec, ...manifest } of crdManifests(NAMESPACE)) {
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: webhooks.clientConfigFor(CONVERT_PATH) }
    await applyCrd(client, { ...manifest, spec: { ...spec, conversion: { strategy: 'Webhook', webhook } } }, signal)
  }
  await webhooks.register(signal)
  started.defer(() => account.close())
  const { manager } = createDynatraceOperator({
    client: account,
    logger,
    observer: stage.console.observer(),
    namespace: NAMESPACE,
    clusterId: await clusterIdOf(client, { signal }),
    operator: { version: VERSION, image, hasCsiDriver: true },
    detectsHostAvailability: true,
    issuesCertificates: false,
  })
  const kept = started.move()
  return {
    hints: [
      'npx dynatrace-operator troubleshoot, which checks the installation',
      `https://${simulator.authority}/ in a browser: the simulated tenant, the calls it gets, and faults to inject (browsers warn about its certificate)`,
    ],
    // The webhooks end when the scene is closed, or by a failure.
    run: (until) => Promise.race([manager.run(until), webhooks.end]),
    async play(limit) {
      const options = { fieldManager: FIELD_MANAGER, force: true, signal: limit }
      const dynakube = await client.apply(DynaKubes, await dynakubeSample(simulator), options)
      const edgeConnect = await client.apply(EdgeConnects, await edgeConnectSample(simulator), options)
      await untilRunning(client, DynaKubes, dynakube, limit)
      await untilRunning(client, EdgeConnects, edgeConnect, limit)
      await openBookshop(client, limit)
    },
    async explain() {
      const { items: dynakubes } = await client.list(DynaKubes, { namespace: NAMESPACE })
      const { items: edgeConnects } = await client.list(EdgeConnects, { namespace: NAMESPACE })
      return [...[...dynakubes, ...edgeConnects].map(stateOf), await bookshopState(client)].join('\n')
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function isOfCsiDriver({ metadata }: UnknownObject): boolean {
  return metadata.labels?.['app.kubernetes.io/component'] === 'csi-driver'
}

async function prepare(client: KubeClient, simulator: TenantSimulator, signal: AbortSignal): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, force: true, signal }
  await client.apply(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, options)
  for (const object of tenantObjects(simulator, NAMESPACE)) {
    await client.apply(await client.resourceFor(object, { signal }), object, options)
  }
}

async function readSample<T extends KubeObject>(path: string): Promise<T> {
  // The samples are checked by the operator's own tests.
  return parse(await readFile(new URL(path, SAMPLES), 'utf8')) as T
}

async function dynakubeSample(simulator: TenantSimulator): Promise<DynaKube> {
  const { spec, ...sample } = await readSample<DynaKube>('dynakube/v1beta6/everything.yaml')
  return { ...sample, spec: { ...spec, apiUrl: simulator.url(TENANT), trustedCAs: TRUST } }
}

async function edgeConnectSample(simulator: TenantSimulator): Promise<EdgeConnect> {
  const { spec, ...sample } = await readSample<EdgeConnect>('edgeconnect/v1alpha2/provisioner.yaml')
  const oauth = {
    ...spec.oauth,
    clientSecret: OAUTH_CLIENT,
    endpoint: simulator.tokenUrl,
    resource: `urn:dtenvironment:${TENANT}`,
  }
  // Named, because the registry of the vendor may be out of reach.
  const imageRef = { repository: 'registry.example.com/edgeconnect', tag: '1' }
  return { ...sample, spec: { ...spec, apiServer: simulator.authority, caCertsRef: TRUST, imageRef, oauth } }
}

async function untilRunning<T extends DynaKube | EdgeConnect>(
  client: KubeClient,
  resource: Resource<T>,
  { metadata }: T,
  signal: AbortSignal,
): Promise<void> {
  const key = { namespace: NAMESPACE, name: metadata.name ?? '' }
  while ((await client.get(resource, key, { signal })).status?.phase !== 'Running') await sleep(200, { signal })
}

function stateOf({ kind, metadata, status }: DynaKube | EdgeConnect): string {
  const failing = (status?.conditions ?? []).filter((condition) => condition.status !== 'True')
  const reasons = failing.map(({ type, message }) => `${type}: ${message}`)
  return [`${kind} ${metadata.name} is ${status?.phase ?? 'unknown'}`, ...reasons].join('; ')
}
