/** Keeps the desired number of pods of a template. */
import { timestamp } from '../clock.ts'
import { claim } from './claims.ts'
import { withCondition, withoutCondition } from './conditions.ts'
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { controllerOf, isTerminating, keyOf, namespaceOf, splitKey } from './kinds/meta.ts'
import { availableAtMs, isActive, isReady, type Pod } from './kinds/pods.ts'
import type { ReplicaSet, ReplicaSetStatus } from './kinds/workloads.ts'
import { type BatchOutcome, BURST, failureMessage, podFromTemplate, slowStart } from './pod-creation.ts'
import { surplusPods } from './pod-ranking.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { SelectorIndex, selects } from './selectors.ts'
import type { SimulatorController } from './simulator-controller.ts'

const SOURCE = 'replicaset-controller'

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
  const { api, clock, events } = context
  const sets = new ResourceClient<ReplicaSet>(api, 'replicasets.apps')
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
      await events.record(set, { type: 'Warning', reason: 'FailedCreate', message, source: SOURCE })
    }
    return outcome
  }

  function record(set: ReplicaSet, what: 'Create' | 'Delete', message: string): Promise<void> {
    return events.record(set, { reason: `Successful${what}`, message, source: SOURCE })
  }

  function statusOf(set: ReplicaSet, counts: ReplicaSetStatus, outcome: BatchOutcome): ReplicaSetStatus {
    const message = failureMessage(outcome.error)
    const conditions =
      message === undefined
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

  return new Controller(context, {
    name: 'replica-sets',
    gathersEvents: true,
    watches: {
      'replicasets.apps': ({ type, object }, enqueue) => {
        const set = asObject<ReplicaSet>(object)
        selectors.set(namespaceOf(set), keyOf(set), type === 'DELETED' ? undefined : set.spec.selector)
        if (type !== 'DELETED') enqueue(keyOf(set))
      },
      pods: ({ type, object, previous }, enqueue) => {
        const pod = asObject<Pod>(object)
        const enqueueOwner = (of: Pod) => {
          const owner = controllerOf(of)
          if (owner?.kind === 'ReplicaSet') enqueue(`${namespaceOf(of)}/${owner.name}`)
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
      const set = sets.get(namespace, name)
      if (set === undefined) return undefined
      const { uid } = set.metadata
      await claim(set, pods, { owned: context.pods.controlledBy(uid), orphans: context.pods.orphansIn(namespace) })
      const active = context.pods.controlledBy(uid).filter(isActive)
      const outcome = isTerminating(set) ? { done: 0 } : await scale(set, active, signal)
      // Read again: the pods and the set may have changed during the writes.
      const live = sets.get(namespace, name)
      if (live === undefined || live.metadata.uid !== uid) return undefined
      const { counts, requeueAfterMs } = observe(live, context.pods.controlledBy(uid).filter(isActive), clock.now())
      // The status counts existing pods, but its generation must be the reconciled one.
      const reconciled = { ...live, metadata: { ...live.metadata, generation: set.metadata.generation ?? 1 } }
      await sets.updateStatus(live, statusOf(reconciled, counts, outcome))
      if (outcome.error !== undefined) throw outcome.error
      return requeueAfterMs
    },
  })
}
