/** A DynaKube in a closed world: simulated time, a tenant without sockets, and an operator that can be killed. */

import type { SimulatedClock } from '@reeve/http/testing'
import { type KubeClient, Namespaces, type ObjectKey, Secrets } from '@reeve/kube'
import { createWorld, type OperatorUnderTest, type SeamRequest, type World } from '@reeve/simulation'
import { addCsiDriver } from '../../../exploration/csi-driver.ts'
import { dynatraceUnderTest, NAMESPACE } from '../../../exploration/dynatrace-under-test.ts'
import { addServiceAccounts } from '../../../exploration/service-accounts.ts'
import { TENANT, type TenantWorld } from '../../../exploration/tenant-world.ts'
import { DynaKubeCrd } from '../../../src/api/dynakube/dynakube-crd.ts'
import { type DynaKube, type DynaKubeSpec, DynaKubes } from '../../../src/api/latest.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import type { SimulatedTenants } from '../../../src/tenant/simulator/index.ts'

export { NAMESPACE }

/** How long nothing may be written before the stage counts as settled. */
const QUIET_MS = 2_000
const PATIENCE_MS = 30 * 60_000

const key: ObjectKey = { namespace: NAMESPACE, name: 'cluster' }

/** A JSON object. */
export type Plain = Readonly<Record<string, unknown>>

/**
 * Sets the stage: namespaces `dynatrace` and `shop`, tokens, and the operator running.
 *
 * @param options `hasPods`: whether workloads get pods, which takes more time; without them nothing ever gets ready
 */
export async function setClosedStage(options: { readonly hasPods?: boolean } = {}): Promise<ClosedStage> {
  // The world of the exploration knows its outside world by its interface only.
  const operator = dynatraceUnderTest as OperatorUnderTest
  const world = await createWorld({ seed: 1, operator })
  await world.install(operator)
  const stage = new ClosedStage(world, operator)
  await stage.prepare()
  if (options.hasPods) {
    await addServiceAccounts(stage.client, NAMESPACE)
    await addCsiDriver(stage.client, NAMESPACE)
  }
  stage.start()
  return stage
}

/** See {@link setClosedStage}. */
export class ClosedStage implements AsyncDisposable {
  readonly world: World
  readonly #operator: OperatorUnderTest

  constructor(world: World, operator: OperatorUnderTest) {
    this.world = world
    this.#operator = operator
  }

  get client(): KubeClient {
    return this.world.user.client
  }

  get simulator(): SimulatedTenants {
    // The operator of this stage created it.
    return (this.world.outsideWorld as TenantWorld).simulator
  }

  get tenant() {
    return this.simulator.tenant(TENANT)
  }

  async prepare(): Promise<void> {
    for (const name of [NAMESPACE, 'shop']) {
      await this.client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    const names = ['apiToken', 'dataIngestToken']
    const tokens = names.map((name) => [name, this.tenant.tokens.get(name)?.value ?? ''] as const)
    await this.addSecret('tokens', Object.fromEntries(tokens))
  }

  async addSecret(name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { namespace: NAMESPACE, name }
    await this.client.create(Secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: encodeSecret(data) })
  }

  async removeSecret(name: string): Promise<void> {
    await this.client.delete(Secrets, { namespace: NAMESPACE, name })
  }

  /** Starts an operator. */
  start(): void {
    this.world.start(this.#operator)
  }

  /** Kills the operator in the middle of its work. */
  kill(): void {
    for (const instance of this.world.running) instance.kill()
  }

  /**
   * Kills the operator as soon as the server has processed its next write, before the response. Writes that
   * change nothing do not count: a new operator applies some objects once to learn how the server rewrites them.
   */
  killAfterNextWrite(): void {
    const versions = new Map<number, unknown>()
    const versionOf = ({ resource, namespace, name = '' }: SeamRequest) => {
      const { metadata } = this.world.cluster.api.get(resource, namespace, name) ?? {}
      return (metadata as { readonly resourceVersion?: string } | undefined)?.resourceVersion
    }
    this.world.disturb({
      onRequest: (request) => {
        if (request.isWrite) versions.set(request.index, versionOf(request))
        return { type: 'pass' }
      },
      onResponse: (request, status) => {
        const { isWrite, resource, index } = request
        if (!isWrite || resource.startsWith('events') || status >= 300) return { type: 'deliver' }
        if (versions.get(index) === versionOf(request)) return { type: 'deliver' }
        this.kill()
        this.spare()
        return { type: 'lose' }
      },
    })
  }

  /** Stops killing. */
  spare(): void {
    this.world.disturb({})
  }

  /** Creates the DynaKube of the stage. */
  create(spec: Partial<DynaKubeSpec>): Promise<DynaKube> {
    return this.client.create(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: key,
      spec: this.#specOf(spec),
    })
  }

  /** Replaces the whole spec. */
  async replace(spec: Partial<DynaKubeSpec>): Promise<void> {
    const { metadata, status } = await this.read()
    await this.client.update(DynaKubes, {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata,
      spec: this.#specOf(spec),
      ...(status && { status }),
    })
  }

  read(): Promise<DynaKube> {
    return this.client.get(DynaKubes, key)
  }

  /** Triggers a reconcile, although nothing changed. */
  async touch(): Promise<void> {
    const patch = { metadata: { annotations: { touched: String(this.world.elapsedMs) } } }
    await this.client.patch(DynaKubes, key, { type: 'merge', patch })
  }

  async delete(): Promise<void> {
    await this.client.delete(DynaKubes, key)
  }

  async deleteIfThere(): Promise<void> {
    const isThere = this.world.cluster.api.get(DynaKubeCrd.name, NAMESPACE, key.name) !== undefined
    if (isThere) await this.delete()
  }

  /** Advances the simulated clock. */
  advance(durationMs: number): Promise<void> {
    return this.world.clock.advance(durationMs)
  }

  async condition(type: string): Promise<{ status?: string; reason?: string; message?: string } | undefined> {
    return (await this.read()).status?.conditions?.find((one) => one.type === type)
  }

  /** Advances the clock until a condition holds. */
  until(condition: () => Promise<boolean>): Promise<void> {
    // Its time is simulated: the operator runs in this process.
    const clock = this.world.clock as SimulatedClock
    return clock.runUntil(condition, { maxMs: PATIENCE_MS })
  }

  /** Advances the clock until the phase is reached. */
  untilPhase(phase: 'Running' | 'Deploying' | 'Error'): Promise<void> {
    return this.until(async () => (await this.read()).status?.phase === phase)
  }

  /** Advances the clock until nothing is written anymore. */
  async settle(): Promise<void> {
    for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += QUIET_MS) {
      const before = this.world.log.managedWrites.length
      await this.world.clock.advance(QUIET_MS)
      if (this.world.log.managedWrites.length === before) return
    }
    throw new Error(`the operator still writes after ${PATIENCE_MS} ms`)
  }

  #specOf(spec: Partial<DynaKubeSpec>): DynaKubeSpec {
    return { apiUrl: this.simulator.url(TENANT), tokens: 'tokens', ...spec }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.close()
  }
}
