/** A cluster, a tenant with its registry and a data directory, and the provisioner's reconcile function over them. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { type Clock, DEFAULT_RETRY_POLICY, systemClock, type TransportRequest } from '@reeve/http'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  isNotFound,
  type KubeClient,
  Namespaces,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { silentLogger } from '@reeve/runtime'
import type { ReconcileRequest, ReconcileResult } from '@reeve/runtime/controller'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { type DynaKube, type DynaKubeSpec, DynaKubes } from '../../../src/api/latest.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import { DataPaths } from '../../../src/csi/data-paths.ts'
import type { Mount } from '../../../src/csi/mounts/mount-table.ts'
import { networkConnections } from '../../../src/csi/provisioner/connections.ts'
import { parseJobSettings } from '../../../src/csi/provisioner/job-settings.ts'
import { type ProvisionOptions, provision } from '../../../src/csi/provisioner/provision.ts'
import { provisionerMetrics } from '../../../src/csi/provisioner/provisioner-metrics.ts'
import { convertRoute, crdManifests } from '../../../src/index.ts'
import { startTenantSimulator, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'

/** Where everything is. */
export const NAMESPACE = 'dynatrace'
/** The tenant of all DynaKubes. */
export const TENANT = 'abc12345'

/** As many attempts as usual, without a pause in between. */
const AT_ONCE = { ...DEFAULT_RETRY_POLICY, baseDelayMs: 0, maxDelayMs: 0 }

/** What tests work with. */
export interface ProvisionerStage extends AsyncDisposable {
  readonly client: KubeClient
  readonly simulator: TenantSimulator
  readonly paths: DataPaths
  /** What the table of mounts contains, as far as tests say so. */
  readonly mounts: Mount[]
  /** Requests to the API server that fail: `verb resource`. */
  readonly failing: Set<string>
  /** Creates or replaces a DynaKube with the given status. */
  dynakube(name: string, wanted: WantedDynaKube): Promise<Stored<DynaKube>>
  /** @param cached what the cache shows; by default the DynaKube as it is */
  reconcile(name: string, cached?: Stored<DynaKube>): Promise<ReconcileResult | undefined>
  /** Starts the provisioner again. */
  restart(more?: Partial<ProvisionOptions>): void
  /** The time, in milliseconds since the epoch. */
  now(): number
  /** Lets time pass. */
  pass(durationMs: number): void
  metrics(): Promise<string>
}

/** A DynaKube as a test wants it. */
export interface WantedDynaKube {
  readonly spec?: Partial<DynaKubeSpec>
  readonly codeModules?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Sets the stage. */
export async function provisionerStage(): Promise<ProvisionerStage> {
  const folder = await mkdtemp(join(tmpdir(), 'provisioner-'))
  const simulator = await startTenantSimulator({ tenants: [{ id: TENANT }] })
  let passedMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + passedMs }
  // Nothing happens while a reconcile waits, so it does not wait in real time.
  const skippingClock: Clock = {
    now: clock.now,
    schedule(delayMs, action) {
      const handle = setImmediate(() => {
        passedMs += delayMs
        action()
      })
      return { cancel: () => clearImmediate(handle) }
    },
  }
  const route = convertRoute()
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.respond(review, signal) : undefined,
  })
  const failing = new Set<string>()
  const send = (request: TransportRequest) => {
    const failure = [...failing].find((each) => `${request.method} ${request.path}`.includes(each))
    if (failure !== undefined) throw new Error(`no ${failure} today`)
    return cluster.handle(request)
  }
  const client = createClient({ transport: { send, close: async () => undefined }, clock, retries: { maxRetries: 0 } })
  await prepare(client, simulator)
  const paths = new DataPaths(join(folder, 'data'))
  const mounts: Mount[] = []
  const registry = await createMetricsRegistry()
  const { connectTenant, openRegistry } = networkConnections()
  const options: ProvisionOptions = {
    connectTenant: (connection) => connectTenant({ ...connection, retries: AT_ONCE }),
    openRegistry,
    paths,
    nodeName: 'worker-1',
    hostDataRoot: '/host/data',
    jobs: parseJobSettings(undefined),
    readMounts: async () => mounts,
    hasCsiDriver: true,
    cleanupPeriodMs: 30 * 60_000,
    metrics: provisionerMetrics(registry),
  }
  let reconcile = provision(options)
  const stop = new AbortController()
  return {
    client,
    simulator,
    paths,
    mounts,
    failing,
    metrics: () => registry.expose(),
    now: () => clock.now(),
    pass: (durationMs) => {
      passedMs += durationMs
    },
    restart: (more = {}) => {
      reconcile = provision({ ...options, ...more })
    },
    async dynakube(name, { spec = {}, codeModules, annotations = {} }) {
      const key = { namespace: NAMESPACE, name }
      const metadata = { ...key, annotations }
      const common = { apiUrl: simulator.url(TENANT), tokens: 'tokens', trustedCAs: 'tenant' }
      await client.delete(DynaKubes, key).catch(ignoreMissing)
      const object = { apiVersion: 'dynatrace.com/v1beta6', kind: 'DynaKube', metadata, spec: { ...common, ...spec } }
      const created = await client.create(DynaKubes, object)
      if (codeModules === undefined) return created
      return client.patch(
        DynaKubes,
        key,
        { type: 'merge', patch: { status: { codeModules } } },
        { subresource: 'status' },
      )
    },
    async reconcile(name, cached) {
      const key = { namespace: NAMESPACE, name }
      const object = cached ?? (await client.get(DynaKubes, key).catch(ignoreMissing))
      const request: Partial<ReconcileRequest<DynaKube>> = {
        key,
        object,
        client,
        clock: skippingClock,
        logger: silentLogger,
        signal: stop.signal,
        stage: (_, run) => run(),
      }
      // The rest of a request is not used.
      return (await reconcile(request as ReconcileRequest<DynaKube>)) ?? undefined
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await cluster.stop()
      await simulator.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function prepare(client: KubeClient, simulator: TenantSimulator): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  // The manifests of `@reeve/crd` keep their spec open; the cluster checks it.
  const definitions = crdManifests() as unknown as readonly CustomResourceDefinition[]
  for (const definition of definitions) await client.create(CustomResourceDefinitions, definition)
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: 'tenant' },
    data: { certs: simulator.caCertificate },
  })
  const apiToken = simulator.tenant(TENANT).tokens.get('apiToken')?.value ?? ''
  await createSecret(client, 'tokens', { apiToken })
}

/** Creates a Secret. */
export async function createSecret(
  client: KubeClient,
  name: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const metadata = { namespace: NAMESPACE, name }
  await client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: encodeSecret(data) })
}

function ignoreMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error
}
