/** Runs the pods of StatefulSets: with stable names, in order, each with its own volumes. */
import { claim } from './claims.ts'
import { positive } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import type { PersistentVolumeClaim } from './kinds/cluster.ts'
import {
  controllerOf,
  controllerReference,
  isTerminating,
  keyOf,
  namespaceOf,
  type OwnerReference,
  splitKey,
} from './kinds/meta.ts'
import { availableAtMs, isReady, type Pod } from './kinds/pods.ts'
import type { ControllerRevision, StatefulSet, StatefulSetStatus } from './kinds/workloads.ts'
import { failureMessage } from './pod-creation.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { RevisionHistory } from './revision-history.ts'
import { SelectorIndex } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { type Action, isAvailable, isRunningAndReady, nextActions, type SetState } from './stateful-sets/plan.ts'
import { claimsFor, ordinalOf, podOf, revisionNameOf } from './stateful-sets/pod-identity.ts'
import { earliest } from './time.ts'

const SOURCE = 'statefulset-controller'

class StatefulSetReconciler {
  readonly #context: ControllerContext
  readonly #sets: ResourceClient<StatefulSet>
  readonly #pods: ResourceClient<Pod>
  readonly #claims: ResourceClient<PersistentVolumeClaim>
  readonly #history: RevisionHistory

  constructor(context: ControllerContext) {
    this.#context = context
    this.#sets = new ResourceClient(context.api, 'statefulsets.apps')
    this.#pods = new ResourceClient(context.api, 'pods')
    this.#claims = new ResourceClient(context.api, 'persistentvolumeclaims')
    this.#history = new RevisionHistory(context)
  }

  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { namespace, name } = splitKey(key)
    const set = this.#sets.get(namespace, name)
    if (set === undefined) return undefined
    const orphans = this.#context.pods.orphansIn(namespace).filter((pod) => ordinalOf(set, pod) !== undefined)
    await claim(set, this.#pods, { owned: this.#context.pods.controlledBy(set.metadata.uid), orphans })
    if (isTerminating(set)) return undefined
    const state = this.#state(set, await this.#history.ensure(set))
    let requeueAfterMs: number | undefined
    try {
      for (const action of nextActions(state)) {
        signal.throwIfAborted()
        await this.#execute(set, action)
      }
    } finally {
      // Also when a pod is rejected: the status has the observed generation and shows what is missing.
      requeueAfterMs = await this.#report(set, state.update)
    }
    return requeueAfterMs
  }

  #state(set: StatefulSet, update: ControllerRevision): SetState {
    const pods = new Map<number, Pod>()
    for (const pod of this.#context.pods.controlledBy(set.metadata.uid)) {
      const ordinal = ordinalOf(set, pod)
      if (ordinal !== undefined) pods.set(ordinal, pod)
    }
    const currentName = set.status?.currentRevision
    const current = this.#history.of(set).find(({ metadata }) => metadata.name === currentName) ?? update
    return { set, pods, current, update, nowMs: this.#context.clock.now() }
  }

  async #execute(set: StatefulSet, action: Action): Promise<void> {
    if ('create' in action) {
      await this.#create(set, action.create, action.revision)
      return
    }
    const { ordinal, because } = action
    const { whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {}
    if (because === 'surplus' && whenScaled === 'Delete') await this.#setClaimOwner(action.delete, set, ordinal)
    await this.#pods.delete(action.delete)
    const message = `deleted pod ${action.delete.metadata.name}: ${because}`
    await this.#context.events.record(set, { reason: 'SuccessfulDelete', message, source: SOURCE })
  }

  async #create(set: StatefulSet, ordinal: number, revision: ControllerRevision): Promise<void> {
    try {
      await this.#ensureClaims(set, ordinal)
      const pod = await this.#pods.create(podOf(set, ordinal, revision))
      const message = `created pod ${pod.metadata.name}`
      await this.#context.events.record(set, { reason: 'SuccessfulCreate', message, source: SOURCE })
    } catch (error) {
      const message = failureMessage(error)
      if (message !== undefined) {
        await this.#context.events.record(set, { type: 'Warning', reason: 'FailedCreate', message, source: SOURCE })
      }
      throw error
    }
  }

  async #ensureClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const isDeletedWithSet = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === 'Delete'
    for (const { template, namespace, name } of claimsFor(set, ordinal)) {
      if (this.#claims.get(namespace, name) !== undefined) continue
      const { labels, annotations } = template.metadata
      try {
        await this.#claims.create({
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: {
            name,
            namespace,
            labels: { ...labels, ...set.spec.selector.matchLabels },
            ...(annotations === undefined ? {} : { annotations }),
            ...(isDeletedWithSet ? { ownerReferences: [ownerReference(set)] } : {}),
          },
          spec: template.spec,
        })
      } catch (error) {
        // The claim of an earlier pod with that name is reused.
        if (!isAlreadyExists(error)) throw error
      }
    }
  }

  /** Makes the pod that is about to be deleted the owner of its claims. */
  async #setClaimOwner(pod: Pod, set: StatefulSet, ordinal: number): Promise<void> {
    for (const { namespace, name } of claimsFor(set, ordinal)) {
      const live = this.#claims.get(namespace, name)
      if (live === undefined || isTerminating(live)) continue
      const ownerReferences = [ownerReference(pod)]
      await this.#claims.update({ ...live, metadata: { ...live.metadata, ownerReferences } })
    }
  }

  async #report(reconciled: StatefulSet, update: ControllerRevision): Promise<number | undefined> {
    const live = this.#sets.get(namespaceOf(reconciled), reconciled.metadata.name)
    if (live === undefined || live.metadata.uid !== reconciled.metadata.uid) return undefined
    // The newer generation is queued already.
    if (live.metadata.generation !== reconciled.metadata.generation) return undefined
    const pods = this.#context.pods.controlledBy(live.metadata.uid)
    const status = this.#status(live, pods, update)
    await this.#sets.updateStatus(live, status)
    const inUse = [...pods.map(revisionNameOf), status.currentRevision, status.updateRevision]
    await this.#history.forget(live, new Set(inUse.filter((name) => name !== undefined)))
    return this.#nextAvailableMs(live, pods)
  }

  #status(set: StatefulSet, pods: readonly Pod[], update: ControllerRevision): StatefulSetStatus {
    const nowMs = this.#context.clock.now()
    const alive = pods.filter((pod) => !isTerminating(pod))
    const madeFrom = (revision: string | undefined) => alive.filter((pod) => revisionNameOf(pod) === revision).length
    const ready = pods.filter(isRunningAndReady).length
    const updateRevision = update.metadata.name
    const updated = madeFrom(updateRevision)
    const previous = set.status?.currentRevision ?? updateRevision
    const isRolledOut = updated === pods.length && ready === pods.length && pods.length === (set.spec.replicas ?? 1)
    const isRolling = set.spec.updateStrategy?.type !== 'OnDelete'
    const currentRevision = isRolling && isRolledOut ? updateRevision : previous
    return {
      ...(set.metadata.generation === undefined ? {} : { observedGeneration: set.metadata.generation }),
      replicas: pods.length,
      ...positive('readyReplicas', ready),
      ...positive('currentReplicas', madeFrom(currentRevision)),
      ...positive('updatedReplicas', updated),
      availableReplicas: alive.filter((pod) => isRunningAndReady(pod) && isAvailable(pod, set, nowMs)).length,
      currentRevision,
      updateRevision,
      collisionCount: 0,
    }
  }

  #nextAvailableMs(set: StatefulSet, pods: readonly Pod[]): number | undefined {
    const nowMs = this.#context.clock.now()
    const due = pods.flatMap((pod) => {
      const atMs = isReady(pod) ? availableAtMs(pod, set.spec.minReadySeconds ?? 0) : undefined
      return atMs !== undefined && atMs > nowMs ? [atMs - nowMs] : []
    })
    return earliest(due)
  }
}

/** An owner reference without `controller`, only for garbage collection. */
function ownerReference(owner: StatefulSet | Pod): OwnerReference {
  const { apiVersion, kind, name, uid } = controllerReference(owner)
  return { apiVersion, kind, name, uid }
}

/** The controller of `statefulsets.apps`. */
export function createStatefulSetController(context: ControllerContext): SimulatorController {
  const reconciler = new StatefulSetReconciler(context)
  const selectors = new SelectorIndex()
  return new Controller(context, {
    name: 'stateful-sets',
    gathersEvents: true,
    watches: {
      'statefulsets.apps': ({ type, object }, enqueue) => {
        const set = asObject<StatefulSet>(object)
        selectors.set(namespaceOf(set), keyOf(set), type === 'DELETED' ? undefined : set.spec.selector)
        if (type !== 'DELETED') enqueue(keyOf(set))
      },
      pods: ({ type, object }, enqueue) => {
        const pod = asObject<Pod>(object)
        const owner = controllerOf(pod)
        if (owner?.kind === 'StatefulSet') enqueue(`${namespaceOf(pod)}/${owner.name}`)
        else if (owner === undefined && type !== 'DELETED') {
          for (const key of selectors.matching(namespaceOf(pod), pod.metadata.labels)) enqueue(key)
        }
      },
    },
    reconcile: (key, signal) => reconciler.reconcile(key, signal),
  })
}
