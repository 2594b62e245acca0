/** Keeps the status of ResourceQuotas: their limits, and what the objects of the namespace use. */
import type { ClusterEvent } from '../api/cluster-api.ts'
import { writeAmounts } from '../quota/amounts.ts'
import { Quota } from '../quota/quota.ts'
import type { ControllerContext } from './context.ts'
import type { ControlLoop } from './control-loop.ts'
import { createLoop } from './controller.ts'
import { type ClusterObject, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { asJson, asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const QUOTAS = 'resourcequotas'

interface ResourceQuota extends ClusterObject {
  readonly spec: { readonly hard?: Readonly<Record<string, string>> }
  readonly status?: { readonly hard?: unknown; readonly used?: unknown }
}

/** Watches every resource, because a quota can count any of them; only namespaces with quotas cost anything. */
export class ResourceQuotaController implements SimulatorController {
  readonly name = 'resource-quotas'
  readonly #context: ControllerContext
  readonly #loop: ControlLoop
  readonly #quotas: ResourceClient<ResourceQuota>
  readonly #byNamespace
  #unsubscribe: (() => void) | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#quotas = new ResourceClient(context.api, QUOTAS)
    this.#byNamespace = context.view.lookup<ResourceQuota>(QUOTAS, (quota) => [namespaceOf(quota)])
    this.#loop = createLoop(context, this.name, (key) => this.#reconcile(key))
  }

  get isIdle(): boolean {
    return this.#loop.isIdle
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#loop.start()
    for (const quota of this.#quotas.list()) this.#loop.add(keyOf(quota))
    this.#unsubscribe = this.#context.view.onAny((event) => this.#handle(event))
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    await this.#loop.stop()
  }

  /** A status that others changed is restored at once; the real controller does so within five minutes. */
  #handle({ resource, object }: ClusterEvent): void {
    const namespace = namespaceOf(asObject(object))
    if (namespace === '' || resource === 'events' || !this.#byNamespace.has(namespace)) return
    for (const quota of this.#byNamespace.get(namespace)) this.#loop.add(keyOf(quota))
  }

  async #reconcile(key: string): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const quota = this.#quotas.get(namespace, name)
    if (quota === undefined) return undefined
    const used = new Quota(asJson(quota)).totalUsage(this.#context.api, this.#context.clock.now())
    const hard = { ...quota.spec.hard }
    await this.#quotas.updateStatus(quota, { hard, used: writeAmounts(used) })
    return undefined
  }
}
