/** Keeps the desired number of pods of a template, for ReplicaSets and ReplicationControllers. */
import { timestamp } from '../clock.ts'
import type { JsonObject } from '../json.ts'
import { claim } from './claims.ts'
import { isTrue, withCondition, withoutCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { type ClusterObject, controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { availableAtMs, isActive, isReady, type Pod } from './kinds/pods.ts'
import type { ReplicaSet, ReplicaSetStatus, ReplicationController } from './kinds/workloads.ts'
import { type BatchOutcome, BURST, failureMessage, podFromTemplate, slowStart } from './pod-creation.ts'
import { surplusPods } from './pod-ranking.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { SelectorIndex, selects } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** The two kinds of objects that keep a number of pods. */
interface ReplicaKind<T extends Stored> {
  /** Shown in errors. */
  readonly name: string
  readonly resource: string
  readonly kind: string
  /** The source of its events. */
  readonly source: string
  /** The stored object as a ReplicaSet. */
  readonly read: (object: T) => ReplicaSet
}

type Stored = ClusterObject & { readonly status?: ReplicaSetStatus }

const replicaSets: ReplicaKind<ReplicaSet> = {
  name: 'replica-sets',
  resource: 'replicasets.apps',
  kind: 'ReplicaSet',
  source: 'replicaset-controller',
  read: (set) => set,
}

const replicationControllers: ReplicaKind<ReplicationController> = {
  name: 'replication-controllers',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  source: 'replication-controller',
  // Its selector is a plain map of labels.
  read: ({ spec, ...rest }) => ({ ...rest, spec: { ...spec, selector: { matchLabels: spec.selector ?? {} } } }),
}

/** Whether a pod has all labels of the template, not only those of the selector. */
function isFullyLabeled(set: ReplicaSet, pod: Pod): boolean {
  return selects({ matchLabels: set.spec.template.metadata?.labels ?? {} }, pod.metadata.labels)
}

/** Counts of existing pods, and when the next of them becomes available. */
function observe(set: ReplicaSet, pods: readonly Pod[], nowMs: number) {
  const ready = pods.filter(isReady)
  let nextAvailableMs = Number.POSITIVE_INFINITY
  let available = 0
  for (const pod of ready) {
    const atMs = availableAtMs(pod, set.spec.minReadySeconds ?? 0) ?? Number.POSITIVE_INFINITY
    if (atMs <= nowMs) available += 1
    else nextAvailableMs = Math.min(nextAvailableMs, atMs)
  }
  const counts = {
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter((pod) => isFullyLabeled(set, pod)).length,
    readyReplicas: ready.length,
    availableReplicas: available,
  }
  return { counts, requeueAfterMs: Number.isFinite(nextAvailableMs) ? nextAvailableMs - nowMs : undefined }
}

/** The controller of `replicasets.apps`. */
export function createReplicaSetController(context: ControllerContext): SimulatorController {
  return createReplicaController(context, replicaSets)
}

/** The controller of `replicationcontrollers`. */
export function createReplicationControllerController(context: ControllerContext): SimulatorController {
  return createReplicaController(context, replicationControllers)
}

function createReplicaController<T extends Stored>(
  context: ControllerContext,
  { name: controllerName, resource, kind, source, read }: ReplicaKind<T>,
): SimulatorController {
  const { api, clock, events } = context
  const stored = new ResourceClient<T>(api, resource)
  const pods = new ResourceClient<Pod>(api, 'pods')
  const selectors = new SelectorIndex()

  async function scale(set: ReplicaSet, active: readonly Pod[], signal: AbortSignal): Promise<BatchOutcome> {
    const missing = (set.spec.replicas ?? 1) - active.length
    if (missing < 0) {
      const outcome = await slowStart(surplusPods(active, -missing), (pod) => pods.delete(pod), signal)
      await record(set, 'Delete', `deleted ${outcome.done} of ${active.length} pods`)
      return outcome
    }
    if (missing === 0) return { done: 0 }
    const draft = podFromTemplate(set, set.spec.template)
    const drafts = Array<typeof draft>(Math.min(missing, BURST)).fill(draft)
    const outcome = await slowStart(drafts, (pod) => pods.create(pod), signal)
    const message = failureMessage(outcome.error)
    if (outcome.done > 0) await record(set, 'Create', `created ${outcome.done} of ${missing} missing pods`)
    if (message !== undefined) {
      await events.record(set, { type: 'Warning', reason: 'FailedCreate', message, source })
    }
    return outcome
  }

  function record(set: ReplicaSet, what: 'Create' | 'Delete', message: string): Promise<void> {
    return events.record(set, { reason: `Successful${what}`, message, source })
  }

  function statusOf(set: ReplicaSet, counts: ReplicaSetStatus, outcome: BatchOutcome): ReplicaSetStatus {
    const message = failureMessage(outcome.error)
    // Messages contain the generated name of the pod. Replacing one by the next would be a change, and cause a retry.
    const hasFailed = isTrue(set.status?.conditions, 'ReplicaFailure')
    const conditions =
      message !== undefined && hasFailed
        ? (set.status?.conditions ?? [])
        : message === undefined
          ? withoutCondition(set.status?.conditions, 'ReplicaFailure')
          : withCondition(
              set.status?.conditions,
              { type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message },
              timestamp(clock.now()),
            )
    return {
      ...counts,
      ...(set.metadata.generation === undefined ? {} : { observedGeneration: set.metadata.generation }),
      ...(conditions.length === 0 ? {} : { conditions }),
    }
  }

  const readJson = (object: JsonObject) => read(asObject<T>(object))

  return new Controller(context, {
    name: controllerName,
    gathersEvents: true,
    watches: {
      [resource]: ({ type, object }, enqueue) => {
        const set = readJson(object)
        selectors.set(namespaceOf(set), keyOf(set), type === 'DELETED' ? undefined : set.spec.selector)
        if (type !== 'DELETED') enqueue(keyOf(set))
      },
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const enqueueOwner = (of: Pod) => {
          const owner = controllerOf(of)
          if (owner?.kind === kind) enqueue(`${namespaceOf(of)}/${owner.name}`)
          return owner !== undefined
        }
        if (previous !== undefined) enqueueOwner(asObject<Pod>(previous))
        if (!enqueueOwner(pod) && type !== 'DELETED') {
          for (const key of selectors.matching(namespaceOf(pod), pod.metadata.labels)) enqueue(key)
        }
      },
    },
    async reconcile(key, signal) {
      const { namespace, name } = splitKey(key)
      const found = stored.get(namespace, name)
      if (found === undefined) return undefined
      const set = read(found)
      const { uid } = set.metadata
      await claim(set, pods, { owned: context.pods.controlledBy(uid), orphans: context.pods.orphansIn(namespace) })
      const active = context.pods.controlledBy(uid).filter(isActive)
      const outcome = isTerminating(set) ? { done: 0 } : await scale(set, active, signal)
      // Read again: the pods and the set may have changed during the writes.
      const now = stored.get(namespace, name)
      if (now === undefined || now.metadata.uid !== uid) return undefined
      const live = read(now)
      const { counts, requeueAfterMs } = observe(live, context.pods.controlledBy(uid).filter(isActive), clock.now())
      // The status counts existing pods, but its generation must be the reconciled one.
      const reconciled = { ...live, metadata: { ...live.metadata, generation: set.metadata.generation ?? 1 } }
      await stored.updateStatus(now, statusOf(reconciled, counts, outcome))
      if (outcome.error !== undefined) throw outcome.error
      return requeueAfterMs
    },
  })
}
