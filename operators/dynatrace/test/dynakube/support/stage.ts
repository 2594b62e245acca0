/** A cluster with the DynaKube controller on it, and a tenant for it to talk to. */
import { setTimeout } from 'node:timers/promises'
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  ConfigMaps,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  createClient,
  type KubeClient,
  Namespaces,
  Secrets,
} from '@reeve/kube'
import { createRegistryClient } from '@reeve/oci'
import type { Controller, ReconcileRecord } from '@reeve/runtime/controller'
import { seededRandom } from '@reeve/runtime/testing'
import { CERTIFICATE, fixedCertificate } from '../../../exploration/dynatrace-under-test.ts'
import type { DynaKube, DynaKubeSpec } from '../../../src/api/latest.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import {
  clusterIdOf,
  convertRoute,
  crdManifests,
  createDynatraceOperator,
  DynaKubes,
  type DynatraceOperatorOptions,
} from '../../../src/index.ts'
import type { Exits } from '../../../src/plan/world.ts'
import { createPlatformClient } from '../../../src/tenant/client/platform/platform-client.ts'
import { createTenantClient } from '../../../src/tenant/client/tenant-client.ts'
import { SimulatedTenants, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { SkippingClock } from '../../support/skipping-clock.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

/** An address, as that of a tenant behind sockets. */
const AUTHORITY = '127.0.0.1:8443'

/** How long a look waits where requests take real time. */
const LOOK_MS = 5

/** The Secret with the tokens of a tenant. */
export const tokensOf = (tenant: string): string => `${tenant}-tokens`

/** What tests play on. */
export interface Stage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly simulator: SimulatedTenants
  readonly controller: Controller<DynaKube>
  readonly records: readonly ReconcileRecord[]
  /** Creates a DynaKube that points to the tenant of its name. */
  create(name: string, spec: Partial<DynaKubeSpec>, annotations?: Readonly<Record<string, string>>): Promise<DynaKube>
  edit(name: string, patch: Readonly<Record<string, unknown>>): Promise<DynaKube>
  read(name: string): Promise<DynaKube>
  condition(name: string, type: string): Promise<{ status?: string; reason?: string; message?: string } | undefined>
  /** Triggers a reconcile of a DynaKube and waits for it; returns its record. */
  reconcile(name: string): Promise<ReconcileRecord>
  /** Moves the clock of the operator and the cluster; timers are not affected. */
  advance(durationMs: number): void
  until(what: string, condition: () => boolean | Promise<boolean>): Promise<void>
}

/** How a stage differs from the usual one. */
export interface StageOptions extends Partial<DynatraceOperatorOptions> {
  /** A tenant behind sockets, where connections are the subject: then time passes as it does outside. */
  readonly server?: TenantSimulator
}

/**
 * Sets the stage: a cluster with three nodes, the CRDs, trust, tokens for each tenant, and the controller running, in
 * simulated time.
 *
 * @param tenants one for each DynaKube, which has the same name
 */
export async function setStage(tenants: readonly string[], { server, ...options }: StageOptions = {}): Promise<Stage> {
  const clock = new SkippingClock()
  const random = seededRandom(1)
  const simulator =
    server ?? new SimulatedTenants({ tenants: tenants.map((id) => ({ id })), authority: AUTHORITY, clock })
  const route = convertRoute()
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    random,
    nodes: 3,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.respond(review, signal) : undefined,
  })
  const client = createClient({ transport: cluster.transport, clock, random })
  await prepare(client, simulator, server?.caCertificate ?? CERTIFICATE)
  const stop = new AbortController()
  const records: ReconcileRecord[] = []
  const { manager, dynakubes: controller } = createDynatraceOperator({
    client,
    clock,
    random,
    namespace: NAMESPACE,
    clusterId: await clusterIdOf(client),
    operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
    detectsHostAvailability: true,
    issuesCertificates: false,
    selfSigned: fixedCertificate,
    ...(server === undefined && withoutSockets(simulator, random)),
    onReconcile: (record) => records.push(record),
    ...options,
  })
  const running = manager.run(stop.signal)
  // A failure is reported when the stage is closed; until then it must not be unhandled.
  running.catch(() => undefined)
  const read = (name: string) => client.get(DynaKubes, { namespace: NAMESPACE, name })
  const edit = (name: string, patch: Readonly<Record<string, unknown>>) =>
    client.patch(DynaKubes, { namespace: NAMESPACE, name }, { type: 'merge', patch })
  // Requests that take real time are on their way between two looks.
  const look = server && (() => setTimeout(LOOK_MS))
  const until: Stage['until'] = (what, condition) => clock.until(what, condition, look)
  return {
    cluster,
    client,
    simulator,
    controller,
    records,
    read,
    create: (name, spec, annotations = {}) =>
      client.create(DynaKubes, {
        apiVersion: 'dynatrace.com/v1beta6',
        kind: 'DynaKube',
        metadata: { namespace: NAMESPACE, name, annotations },
        spec: { apiUrl: simulator.url(name), tokens: tokensOf(name), trustedCAs: 'tenant', ...spec },
      }),
    until,
    edit,
    async condition(name, type) {
      return (await read(name)).status?.conditions?.find((one) => one.type === type)
    },
    async reconcile(name) {
      // One that is in progress knows nothing of what the test did before.
      await clock.advance(1)
      const sinceMs = clock.now()
      await edit(name, { metadata: { annotations: { touched: String(sinceMs) } } })
      const found = () => records.findLast(({ key, startedMs }) => key.name === name && startedMs >= sinceMs)
      await until(`a reconcile of ${name}`, () => found() !== undefined)
      // `until` has seen it.
      return found() as ReconcileRecord
    },
    advance(durationMs) {
      clock.skip(durationMs)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await clock.runToCompletion(running)
      await cluster.stop()
      await server?.close()
    },
  }
}

/** Plans that call the tenant within the process. */
export const exitsInto = ({ sender }: SimulatedTenants): Exits => ({
  tenant: () => sender,
  platform: () => sender,
  registry: () => sender,
})

/** Calls the tenant within the process. */
export function withoutSockets({ sender }: SimulatedTenants, random: () => number): Partial<DynatraceOperatorOptions> {
  const outbound = { sender, random, env: {} }
  return {
    connect: (options) => createTenantClient({ ...options, ...outbound }),
    openPlatform: (options) => createPlatformClient({ ...options, ...outbound }),
    openRegistry: (options) => createRegistryClient({ ...options, ...outbound }),
  }
}

async function prepare(client: KubeClient, simulator: SimulatedTenants, certs: string): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  for (const manifest of crdManifests()) {
    // The manifest keeps its spec open; the cluster checks it.
    await client.create(CustomResourceDefinitions, manifest as unknown as CustomResourceDefinition)
  }
  for (const { id, tokens } of simulator.tenants()) {
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: tokensOf(id) },
      data: encodeSecret({
        apiToken: tokens.get('apiToken')?.value ?? '',
        dataIngestToken: tokens.get('dataIngestToken')?.value ?? '',
      }),
    })
  }
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: NAMESPACE, name: 'tenant' },
    data: { certs },
  })
}
