/** A cluster with the DynaKube controller on it, and an environment for it to talk to. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  Namespaces,
  Secrets,
  sleep,
  systemClock,
  type TransportRequest,
} from '@reeve/kube'
import { Cache, type Controller, createManager, type ReconcileRecord } from '@reeve/runtime'
import type { DynaKube, DynaKubeSpec } from '../../../src/api/latest.ts'
import { dynaKubeController } from '../../../src/controllers/dynakube/controller.ts'
import { encodeSecret } from '../../../src/controllers/secret-data.ts'
import { type EnvironmentSimulator, startEnvironmentSimulator } from '../../../src/environment/simulator/index.ts'
import { convertRoute, crdManifests, DynaKubes } from '../../../src/index.ts'

/** The tenant of the environment. */
export const TENANT = 'abc12345'
/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

const PATIENCE_MS = 60_000

/** What tests play on. */
export interface Stage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly environment: EnvironmentSimulator
  readonly controller: Controller<DynaKube>
  readonly records: readonly ReconcileRecord[]
  /** Creates a DynaKube that points to the environment. */
  create(name: string, spec: Partial<DynaKubeSpec>, annotations?: Readonly<Record<string, string>>): Promise<DynaKube>
  read(name: string): Promise<DynaKube>
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** Sets the stage: a cluster with three nodes, the CRDs, tokens and trust, and the controller at work. */
export async function setStage(): Promise<Stage> {
  const environment = await startEnvironmentSimulator({ tenants: [{ id: TENANT }] })
  const route = convertRoute()
  const cluster = await startEmbeddedCluster({
    listen: false,
    nodes: 3,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.answer(review, signal) : undefined,
  })
  const transport = { send: (request: TransportRequest) => cluster.handle(request), close: async () => undefined }
  const client = createClient({ transport })
  await prepare(client, environment)
  const stop = new AbortController()
  const records: ReconcileRecord[] = []
  const cache = new Cache(client, {})
  const manager = createManager<Cache>({ client, cache })
  const clusterId = (await client.get(Namespaces, { name: 'kube-system' })).metadata.uid
  const controller = dynaKubeController(
    {
      namespace: NAMESPACE,
      clusterId,
      operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
      detectsHostAvailability: true,
      onReconcile: (record) => records.push(record),
    },
    { cache, client: manager.client },
  )
  manager.add(controller)
  const running = manager.run(stop.signal)
  // A failure is the test's business when the stage is struck; until then it must not be unhandled.
  running.catch(() => undefined)
  const read = (name: string) => client.get(DynaKubes, { namespace: NAMESPACE, name })
  return {
    cluster,
    client,
    environment,
    controller,
    records,
    read,
    create: (name, spec, annotations = {}) =>
      client.create(DynaKubes, {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        metadata: { namespace: NAMESPACE, name, annotations },
        spec: { apiUrl: environment.url(TENANT), tokens: 'tokens', trustedCAs: 'environment', ...spec },
      }),
    async until(what, condition) {
      const deadline = systemClock.now() + PATIENCE_MS
      while (!(await condition())) {
        if (systemClock.now() > deadline) throw new Error(`waited in vain for ${what}`)
        await sleep(20)
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await cluster.stop()
      await environment.close()
    },
  }
}

async function prepare(client: KubeClient, environment: EnvironmentSimulator): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  const { tokens } = environment.tenant(TENANT)
  await client.create(Secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: NAMESPACE, name: 'tokens' },
    data: encodeSecret({
      apiToken: tokens.get('apiToken')?.value ?? '',
      dataIngestToken: tokens.get('dataIngestToken')?.value ?? '',
    }),
  })
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: 'environment' },
    data: { certs: environment.caCertificate },
  })
}
