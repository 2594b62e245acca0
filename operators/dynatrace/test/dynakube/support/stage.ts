/** The operator in memory, and a tenant for it to talk to. */
import { setTimeout } from 'node:timers/promises'
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import type { KubeClient, KubeObject, Stored } from '@reeve/kube'
import { createRegistryClient } from '@reeve/oci'
import type { CreatedOperator } from '@reeve/runtime'
import type { Reportable } from '@reeve/runtime/components'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import { seededRandom } from '@reeve/runtime/testing'
import { runInMemory, type World } from '@reeve/testing'
import { CERTIFICATE, fixedCertificate } from '../../../exploration/dynatrace-under-test.ts'
import { type DynaKube, type DynaKubeSpec, DynaKubes } from '../../../src/api/latest.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import { clusterIdOf, convertRoute } from '../../../src/index.ts'
import { type DynatraceDefinition, dynatraceOperator } from '../../../src/operator.ts'
import type { Exits } from '../../../src/plan/world.ts'
import { createPlatformClient } from '../../../src/tenant/client/platform/platform-client.ts'
import { createTenantClient } from '../../../src/tenant/client/tenant-client.ts'
import { SimulatedTenants, type TenantSimulator } from '../../../src/tenant/simulator/index.ts'

/** The namespace of the operator. */
export const NAMESPACE = 'dynatrace'

/** An address, as that of a tenant behind sockets. */
const AUTHORITY = '127.0.0.1:8443'

/** How long requests are waited for that take real time. */
const REQUEST_MS = 5

/** The Secret with the tokens of a tenant. */
export const tokensOf = (tenant: string): string => `${tenant}-tokens`

/** What the operator of all tests is like. */
export const DEFINITION = {
  operator: { version: '1.8.1', image: 'registry.example.com/dynatrace-operator:1.8.1', hasCsiDriver: true },
  detectsHostAvailability: true,
  issuesCertificates: false,
  selfSigned: fixedCertificate,
} as const satisfies Partial<DynatraceDefinition>

/** How a stage differs from the usual one. */
export interface StageOptions extends Partial<DynatraceDefinition> {
  /** A tenant behind sockets, where connections are the subject: then requests take real time. */
  readonly server?: TenantSimulator
  /** What exists besides tokens and trust. */
  readonly objects?: readonly KubeObject[]
}

/**
 * Runs the operator on a cluster with three nodes, with trust and tokens for each tenant.
 *
 * @param tenants one for each DynaKube, which has the same name
 */
export async function setStage(
  tenants: readonly string[],
  { server, objects = [], ...definition }: StageOptions = {},
): Promise<Stage> {
  const clock = new SimulatedClock(server && { settle: () => setTimeout(REQUEST_MS) })
  const simulator =
    server ?? new SimulatedTenants({ tenants: tenants.map((id) => ({ id })), authority: AUTHORITY, clock })
  const world = await runInMemory(
    async (client) => {
      const operator = dynatraceOperator({
        namespace: NAMESPACE,
        clusterId: await clusterIdOf(client),
        ...DEFINITION,
        ...(server === undefined && withoutSockets(simulator, seededRandom(1))),
        ...definition,
      })
      // In a cluster they are served by another program.
      return { ...operator, webhooks: [convertRoute()] }
    },
    { clock, objects: [...prerequisites(simulator, server?.caCertificate ?? CERTIFICATE), ...objects] },
  )
  return new Stage(world, simulator, server)
}

/** What tests play on. */
export class Stage implements AsyncDisposable {
  readonly world: World<CreatedOperator<readonly [DynaKube, ...Reportable[]]>>
  readonly simulator: SimulatedTenants
  readonly #server: TenantSimulator | undefined

  constructor(world: Stage['world'], simulator: SimulatedTenants, server: TenantSimulator | undefined) {
    this.world = world
    this.simulator = simulator
    this.#server = server
  }

  get cluster(): EmbeddedCluster {
    return this.world.cluster
  }

  get client(): KubeClient {
    return this.world.client
  }

  get records(): readonly ReconcileRecord[] {
    return this.world.reconciles
  }

  /** Creates a DynaKube that points to the tenant of its name. */
  create(
    name: string,
    spec: Partial<DynaKubeSpec>,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<Stored<DynaKube>> {
    return this.client.create(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { namespace: NAMESPACE, name, annotations },
      spec: { apiUrl: this.simulator.url(name), tokens: tokensOf(name), trustedCAs: 'tenant', ...spec },
    })
  }

  edit(name: string, patch: Readonly<Record<string, unknown>>): Promise<Stored<DynaKube>> {
    return this.client.patch(DynaKubes, { namespace: NAMESPACE, name }, { type: 'merge', patch })
  }

  read(name: string): Promise<Stored<DynaKube>> {
    return this.world.get(DynaKubes, { namespace: NAMESPACE, name })
  }

  async condition(name: string, type: string) {
    return (await this.read(name)).status?.conditions?.find((one) => one.type === type)
  }

  /** Triggers a reconcile of a DynaKube and waits for it; returns its record. */
  async reconcile(name: string): Promise<ReconcileRecord> {
    // One that is in progress knows nothing of what the test did before.
    await this.world.pass(1)
    const sinceMs = this.world.clock.now()
    await this.edit(name, { metadata: { annotations: { touched: String(sinceMs) } } })
    const found = () => this.records.findLast(({ key, startedMs }) => key.name === name && startedMs >= sinceMs)
    await this.until(() => found() !== undefined)
    // `until` has seen it.
    return found() as ReconcileRecord
  }

  /** Sets the time ahead, without what would have happened meanwhile. */
  advance(durationMs: number): void {
    this.world.clock.skip(durationMs)
  }

  until(condition: () => boolean | Promise<boolean>): Promise<void> {
    return this.world.until(condition)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.stop()
    await this.#server?.close()
  }
}

/** Plans that call the tenant within the process. */
export const exitsInto = ({ sender }: SimulatedTenants): Exits => ({
  tenant: () => sender,
  platform: () => sender,
  registry: () => sender,
})

/** Calls the tenant within the process. */
export function withoutSockets({ sender }: SimulatedTenants, random: () => number) {
  const outbound = { sender, random, env: {} }
  return {
    connect: (options) => createTenantClient({ ...options, ...outbound }),
    openPlatform: (options) => createPlatformClient({ ...options, ...outbound }),
    openRegistry: (options) => createRegistryClient({ ...options, ...outbound }),
  } satisfies Partial<DynatraceDefinition>
}

/** What a DynaKube of {@link Stage.create} refers to. */
export const prerequisites = (
  simulator: SimulatedTenants,
  certs: string,
  namespace: string = NAMESPACE,
): readonly KubeObject[] => [
  ...simulator.tenants().map(({ id, tokens }) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: tokensOf(id) },
    data: encodeSecret({
      apiToken: tokens.get('apiToken')?.value ?? '',
      dataIngestToken: tokens.get('dataIngestToken')?.value ?? '',
    }),
  })),
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'tenant' }, data: { certs } } as KubeObject,
]
