/** Deletes objects without remaining owners, and implements foreground and orphan deletion. */
import type { ClusterEvent } from '../api/cluster-api.ts'
import type { ControllerContext } from './context.ts'
import type { ControlLoop } from './control-loop.ts'
import { createLoop } from './controller.ts'
import { type ClusterObject, isTerminating, namespaceOf, type OwnerReference } from './kinds/meta.ts'
import { OwnerGraph, objectId, ResourceKinds, splitObjectId } from './owner-graph.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'
const CUSTOM_RESOURCE_DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/** The owners of an object by their state. */
interface Owners {
  /** Existing: they keep the object. */
  readonly existing: readonly OwnerReference[]
  /** Deleted, or never existed with that uid and namespace. */
  readonly dangling: readonly OwnerReference[]
  /** Being deleted in the foreground: they wait for the deletion of the object. */
  readonly waiting: readonly OwnerReference[]
  /** Of a kind that is not served now: it may be served again, so the object is kept. */
  readonly unknown: readonly OwnerReference[]
}

/**
 * Handles all resources, including those of CustomResourceDefinitions created later.
 *
 * An object is deleted when all of its owners are deleted; an owner is found by its kind, name and uid in the object's
 * own namespace or cluster-wide. A cluster-scoped object cannot have a namespaced owner: such a reference is never
 * resolved and never causes a deletion.
 */
export class GarbageCollector implements SimulatorController {
  readonly name = 'garbage-collector'
  readonly #context: ControllerContext
  readonly #loop: ControlLoop
  readonly #graph = new OwnerGraph()
  readonly #kinds: ResourceKinds
  #unsubscribe: (() => void) | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#kinds = new ResourceKinds(context.api)
    this.#loop = createLoop(context, this.name, (key, signal) => this.#reconcile(key, signal))
  }

  get isIdle(): boolean {
    return this.#loop.isIdle
  }

  start(): void {
    if (this.#unsubscribe !== undefined) return
    this.#loop.start()
    for (const { resource } of this.#context.api.resources()) {
      for (const object of this.#context.api.list(resource)) {
        this.#handle({ type: 'ADDED', resource, object, previous: undefined })
      }
    }
    this.#unsubscribe = this.#context.view.onAny((event) => this.#handle(event))
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    await this.#loop.stop()
    this.#graph.clear()
  }

  #handle(event: ClusterEvent): void {
    const object = asObject(event.object)
    const references = object.metadata.ownerReferences
    const id = objectId(event.resource, object)
    if (event.type === 'DELETED') {
      if (event.resource === CUSTOM_RESOURCE_DEFINITIONS) this.#kinds.refresh()
      this.#graph.remove(id)
      for (const dependent of this.#graph.dependentsOf(object.metadata.uid)) this.#loop.add(dependent)
      // An owner that is deleted in the foreground may have waited for this object.
      this.#addOwners(object, references)
      return
    }
    const changed = this.#graph.set(id, references ?? [])
    if (changed && (references?.length ?? 0) > 0) this.#loop.add(id)
    if (changed && event.previous !== undefined)
      this.#addOwners(object, asObject(event.previous).metadata.ownerReferences)
    if (deletionPolicyOf(object) !== undefined) this.#loop.add(id)
    // Dependents of unknown kinds were kept until the kind is served again.
    if (event.resource === CUSTOM_RESOURCE_DEFINITIONS) {
      this.#kinds.refresh()
      for (const child of this.#graph.all()) this.#loop.add(child)
    }
  }

  #addOwners(object: ClusterObject, references: readonly OwnerReference[] = []): void {
    for (const reference of references) {
      const info = this.#kinds.find(reference)
      if (info === undefined) continue
      const namespace = info.namespaced ? namespaceOf(object) : ''
      this.#loop.add(`${info.resource}|${namespace}|${reference.name}`)
    }
  }

  async #reconcile(id: string, signal: AbortSignal): Promise<undefined> {
    const { resource, namespace, name } = splitObjectId(id)
    const client = new ResourceClient<ClusterObject>(this.#context.api, resource)
    const object = client.get(namespace, name)
    if (object === undefined) return
    switch (deletionPolicyOf(object)) {
      case ORPHAN:
        return this.#orphanDependents(client, object, signal)
      case FOREGROUND:
        return this.#finishForeground(client, object)
    }
    if (!isTerminating(object)) await this.#considerDeleting(client, object)
  }

  async #considerDeleting(client: ResourceClient<ClusterObject>, object: ClusterObject): Promise<void> {
    const { ownerReferences = [], uid, name, namespace, finalizers = [] } = object.metadata
    if (ownerReferences.length === 0) return
    const { existing, dangling, waiting, unknown } = this.#classify(object)
    if (unknown.length > 0) return
    if (existing.length > 0) {
      if (dangling.length + waiting.length === 0) return
      await client.update({ ...object, metadata: { ...object.metadata, ownerReferences: existing } })
      return
    }
    // Owners that are deleted in the foreground wait for the whole tree below them.
    const hasDependents = this.#graph.dependentsOf(uid).length > 0
    const inherited = waiting.length > 0 && hasDependents ? 'Foreground' : 'Background'
    const own = finalizers.includes(ORPHAN) ? 'Orphan' : finalizers.includes(FOREGROUND) ? 'Foreground' : inherited
    const unblocked = waiting.length > 0 && this.#isInCircle(uid) ? await unblockOwners(client, object) : object
    // The resourceVersion guarantees that the object did not get a new owner meanwhile.
    await this.#context.api.delete(client.resource, namespace, name, {
      propagationPolicy: own,
      preconditions: { uid, resourceVersion: unblocked.metadata.resourceVersion },
    })
  }

  /**
   * Whether a dependent is itself being deleted in the foreground: then owners and dependents form a circle, in which each
   * would wait for the next.
   */
  #isInCircle(uid: string): boolean {
    return this.#graph.dependentsOf(uid).some((id) => {
      const { resource, namespace, name } = splitObjectId(id)
      const dependent = new ResourceClient<ClusterObject>(this.#context.api, resource).get(namespace, name)
      return dependent !== undefined && deletionPolicyOf(dependent) === FOREGROUND
    })
  }

  async #finishForeground(client: ResourceClient<ClusterObject>, owner: ClusterObject): Promise<undefined> {
    const { uid } = owner.metadata
    let blocking = 0
    for (const id of this.#graph.dependentsOf(uid)) {
      if (this.#graph.blocks(id, uid)) blocking += 1
      this.#loop.add(id)
    }
    if (blocking === 0) await removeFinalizer(client, owner, FOREGROUND)
  }

  async #orphanDependents(
    client: ResourceClient<ClusterObject>,
    owner: ClusterObject,
    signal: AbortSignal,
  ): Promise<undefined> {
    const { uid } = owner.metadata
    for (const id of this.#graph.dependentsOf(uid)) {
      signal.throwIfAborted()
      const { resource, namespace, name } = splitObjectId(id)
      const dependents = new ResourceClient<ClusterObject>(this.#context.api, resource)
      const dependent = dependents.get(namespace, name)
      if (dependent === undefined) continue
      const ownerReferences = (dependent.metadata.ownerReferences ?? []).filter((reference) => reference.uid !== uid)
      await dependents.update({ ...dependent, metadata: { ...dependent.metadata, ownerReferences } })
    }
    await removeFinalizer(client, owner, ORPHAN)
  }

  #classify(object: ClusterObject): Owners {
    const owners = { existing: [], dangling: [], waiting: [], unknown: [] } as Record<keyof Owners, OwnerReference[]>
    for (const reference of object.metadata.ownerReferences ?? []) {
      owners[this.#ownerState(object, reference)].push(reference)
    }
    return owners
  }

  #ownerState(object: ClusterObject, reference: OwnerReference): keyof Owners {
    const info = this.#kinds.find(reference)
    if (info === undefined) return 'unknown'
    const namespace = namespaceOf(object)
    if (info.namespaced && namespace === '') return 'unknown'
    const owner = this.#context.api.get(info.resource, info.namespaced ? namespace : undefined, reference.name)
    if (owner === undefined) return 'dangling'
    const live = asObject(owner)
    if (live.metadata.uid !== reference.uid) return 'dangling'
    return deletionPolicyOf(live) === FOREGROUND ? 'waiting' : 'existing'
  }
}

/** How to treat dependents of an object that is being deleted, if it waits for that. */
function deletionPolicyOf(object: ClusterObject): typeof FOREGROUND | typeof ORPHAN | undefined {
  if (!isTerminating(object)) return undefined
  const { finalizers } = object.metadata
  if (finalizers?.includes(ORPHAN)) return ORPHAN
  return finalizers?.includes(FOREGROUND) ? FOREGROUND : undefined
}

/** Lets the owners of an object be deleted before it. */
function unblockOwners(client: ResourceClient<ClusterObject>, object: ClusterObject): Promise<ClusterObject> {
  const references = object.metadata.ownerReferences ?? []
  const ownerReferences = references.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
  return client.update({ ...object, metadata: { ...object.metadata, ownerReferences } })
}

async function removeFinalizer(
  client: ResourceClient<ClusterObject>,
  object: ClusterObject,
  finalizer: string,
): Promise<undefined> {
  const finalizers = (object.metadata.finalizers ?? []).filter((other) => other !== finalizer)
  await client.update({ ...object, metadata: { ...object.metadata, finalizers } })
}
