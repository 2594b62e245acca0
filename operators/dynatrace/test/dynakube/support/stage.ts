/** A cluster with the DynaKube controller on it, and a tenant for it to talk to. */
import { type EmbeddedCluster, startEmbeddedCluster } from '@reeve/embedded-cluster'
import {
  type Clock,
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
import type { Controller, ReconcileRecord } from '@reeve/runtime/controller'
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
import { startTenantSimulator, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'
import { reconcileAfter } from '../../support/reconcile-after.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

const PATIENCE_MS = 60_000

/** The Secret with the tokens of a tenant. */
export const tokensOf = (tenant: string): string => `${tenant}-tokens`

/** What tests play on. */
export interface Stage extends AsyncDisposable {
  readonly cluster: EmbeddedCluster
  readonly client: KubeClient
  readonly simulator: TenantSimulator
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

/**
 * Sets the stage: a cluster with three nodes, the CRDs, trust, tokens for each tenant, and the controller running.
 *
 * @param tenants one for each DynaKube, which has the same name
 * @param options options of the operator that differ from the defaults
 */
export async function setStage(
  tenants: readonly string[],
  options: Partial<DynatraceOperatorOptions> = {},
): Promise<Stage> {
  const simulator = await startTenantSimulator({ tenants: tenants.map((id) => ({ id })) })
  const route = convertRoute()
  let advancedMs = 0
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + advancedMs }
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    clock,
    nodes: 3,
    callWebhook: ({ url, review, signal }) =>
      new URL(url).pathname === route.path ? route.respond(review, signal) : undefined,
  })
  const transport = { send: (request: TransportRequest) => cluster.handle(request), close: async () => undefined }
  const client = createClient({ transport, clock })
  await prepare(client, simulator)
  const stop = new AbortController()
  const records: ReconcileRecord[] = []
  const { manager, dynakubes: controller } = createDynatraceOperator({
    client,
    clock,
    namespace: NAMESPACE,
    clusterId: await clusterIdOf(client),
    operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
    detectsHostAvailability: true,
    issuesCertificates: false,
    onReconcile: (record) => records.push(record),
    ...options,
  })
  const running = manager.run(stop.signal)
  // A failure is reported when the stage is closed; until then it must not be unhandled.
  running.catch(() => undefined)
  const read = (name: string) => client.get(DynaKubes, { namespace: NAMESPACE, name })
  const edit = (name: string, patch: Readonly<Record<string, unknown>>) =>
    client.patch(DynaKubes, { namespace: NAMESPACE, name }, { type: 'merge', patch })
  async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = systemClock.now() + PATIENCE_MS
    while (!(await condition())) {
      if (systemClock.now() > deadline) throw new Error(`timed out waiting for ${what}`)
      await sleep(20)
    }
  }
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
    reconcile: (name) =>
      reconcileAfter(
        { records, clock, until },
        name,
        ({ key, reasons }) => key.name === name && reasons.length > 0,
        () => edit(name, { metadata: { annotations: { touched: String(systemClock.now()) } } }),
      ),
    advance(durationMs) {
      advancedMs += durationMs
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
      await cluster.stop()
      await simulator.close()
    },
  }
}

async function prepare(client: KubeClient, simulator: TenantSimulator): Promise<void> {
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
    data: { certs: simulator.caCertificate },
  })
}
