/** Deletes the content of a terminating namespace, reports what remains, and removes the namespace when it is empty. */

import { timestamp } from '../clock.ts'
import { withCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { type ControlLoop, isLostRace } from './control-loop.ts'
import { createLoop } from './controller.ts'
import type { Namespace } from './kinds/cluster.ts'
import { type ClusterObject, type Condition, isTerminating, splitKey } from './kinds/meta.ts'
import { failureMessage } from './pod-creation.ts'
import { asJson, asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const FINALIZER = 'kubernetes'
/** Changes in a terminating namespace come in bursts; one reconcile for all of them is enough. */
const GATHER_MS = 50

/** What remains in a namespace after deleting everything that can be deleted. */
interface Remains {
  /** Remaining objects, by resource. */
  readonly objects: ReadonlyMap<string, number>
  /** Objects that wait for other controllers, by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  readonly failures: readonly string[]
}

/** The namespace controller. Keys are names of namespaces. */
export class NamespaceController implements SimulatorController {
  readonly name = 'namespaces'
  readonly #context: ControllerContext
  readonly #namespaces: ResourceClient<Namespace>
  readonly #loop: ControlLoop
  /** Namespaces that are terminating: events in other namespaces are ignored. */
  readonly #terminating = new Set<string>()
  #unsubscribe: (() => void) | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#namespaces = new ResourceClient(context.api, 'namespaces')
    this.#loop = createLoop(context, this.name, (key, signal) => this.#reconcile(key, signal))
  }

  get isIdle(): boolean {
    return this.#loop.isIdle
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#loop.start()
    for (const namespace of this.#namespaces.list()) this.#handleNamespace(namespace)
    this.#unsubscribe = this.#context.view.onAny(({ type, resource, object }) => {
      const changed = asObject(object)
      if (resource === 'namespaces') {
        if (type === 'DELETED') this.#terminating.delete(changed.metadata.name)
        else this.#handleNamespace(changed)
      } else if (this.#terminating.size > 0) {
        const { namespace } = changed.metadata
        if (namespace !== undefined && this.#terminating.has(namespace)) this.#loop.addAfter(namespace, GATHER_MS)
      }
    })
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    await this.#loop.stop()
    this.#terminating.clear()
  }

  #handleNamespace(namespace: ClusterObject): void {
    if (!isTerminating(namespace)) return
    this.#terminating.add(namespace.metadata.name)
    this.#loop.add(namespace.metadata.name)
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<undefined> {
    const { name } = splitKey(key)
    const namespace = this.#namespaces.get('', name)
    if (namespace === undefined || !isTerminating(namespace)) return
    if (!(namespace.spec?.finalizers ?? []).includes(FINALIZER)) return
    const remains = await this.#empty(name, signal)
    if (remains.objects.size > 0 || remains.failures.length > 0) {
      await this.#report(name, remains)
      if (remains.failures.length > 0)
        throw new Error(`cannot delete the content of namespace ${name}: ${remains.failures.join('; ')}`)
      return
    }
    await this.#finalize(name, remains)
  }

  /** Pods are deleted first: the objects they use, such as Secrets, must outlive them. */
  async #empty(namespace: string, signal: AbortSignal): Promise<Remains> {
    const objects = new Map<string, number>()
    const finalizers = new Map<string, number>()
    const failures: string[] = []
    const served = this.#context.api.resources().filter((resource) => resource.namespaced)
    const pods = served.filter(({ resource }) => resource === 'pods')
    const others = served.filter(({ resource }) => resource !== 'pods')
    for (const group of [pods, others]) {
      for (const { resource } of group) {
        signal.throwIfAborted()
        await this.#deleteAll(resource, namespace, failures)
        const left = this.#context.api.list(resource, { namespace })
        if (left.length > 0) objects.set(resource, left.length)
        for (const object of left) {
          for (const finalizer of asObject(object).metadata.finalizers ?? []) {
            finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
          }
        }
      }
      if (objects.size > 0) break
    }
    return { objects, finalizers, failures }
  }

  async #deleteAll(resource: string, namespace: string, failures: string[]): Promise<void> {
    for (const object of this.#context.api.list(resource, { namespace })) {
      const { metadata } = asObject(object)
      if (metadata.deletionTimestamp !== undefined) continue
      try {
        const { uid } = metadata
        await this.#context.api.delete(resource, namespace, metadata.name, {
          propagationPolicy: 'Background',
          preconditions: { uid },
        })
      } catch (error) {
        if (isLostRace(error)) continue
        failures.push(`${resource}/${metadata.name}: ${failureMessage(error) ?? 'rejected'}`)
      }
    }
  }

  async #report(name: string, remains: Remains): Promise<Namespace | undefined> {
    const namespace = this.#namespaces.get('', name)
    if (namespace === undefined) return undefined
    const now = timestamp(this.#context.clock.now())
    let conditions = namespace.status?.conditions
    for (const condition of conditionsOf(remains)) conditions = withCondition(conditions, condition, now)
    const status = { ...namespace.status, phase: 'Terminating', ...(conditions === undefined ? {} : { conditions }) }
    await this.#namespaces.updateStatus(namespace, status)
    return this.#namespaces.get('', name)
  }

  async #finalize(name: string, remains: Remains): Promise<void> {
    const namespace = await this.#report(name, remains)
    if (namespace === undefined) return
    const finalizers = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
    const finalized = asJson({ ...namespace, spec: { ...namespace.spec, finalizers } })
    await this.#context.api.update('namespaces', finalized, { subresource: 'finalize' })
  }
}

function conditionsOf({ objects, finalizers, failures }: Remains): readonly Condition[] {
  const counted = (counts: ReadonlyMap<string, number>) =>
    [...counts].map(([name, count]) => `${name} (${count})`).join(', ')
  return [
    condition('NamespaceDeletionDiscoveryFailure', false, 'ResourcesDiscovered', 'all resources were discovered'),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      false,
      'ParsedGroupVersions',
      'all versions were discovered',
    ),
    failures.length > 0
      ? condition('NamespaceDeletionContentFailure', true, 'ContentDeletionFailed', failures.join('; '))
      : condition(
          'NamespaceDeletionContentFailure',
          false,
          'ContentDeleted',
          'all content was deleted or is being deleted',
        ),
    objects.size > 0
      ? condition('NamespaceContentRemaining', true, 'SomeResourcesRemain', `remaining objects: ${counted(objects)}`)
      : condition('NamespaceContentRemaining', false, 'ContentRemoved', 'all content was removed'),
    finalizers.size > 0
      ? condition(
          'NamespaceFinalizersRemaining',
          true,
          'SomeFinalizersRemain',
          `waiting for finalizers: ${counted(finalizers)}`,
        )
      : condition('NamespaceFinalizersRemaining', false, 'ContentHasNoFinalizers', 'no object waits for a finalizer'),
  ]
}

function condition(type: string, holds: boolean, reason: string, message: string): Condition {
  return { type, status: holds ? 'True' : 'False', reason, message }
}
