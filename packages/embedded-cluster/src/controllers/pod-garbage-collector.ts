/** Deletes pods of nodes that no longer exist, which have no kubelet to remove them. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { Node } from './kinds/cluster.ts'
import { isTerminating, keyOf, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod } from './kinds/pods.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** A node may be deleted and recreated immediately; its pods survive that. */
const QUARANTINE_MS = 40_000

/** Keys are those of pods. */
export function createPodGarbageCollector(context: ControllerContext): SimulatorController {
  const pods = new ResourceClient<Pod>(context.api, 'pods')
  const nodes = new ResourceClient<Node>(context.api, 'nodes')
  const missingSinceMs = new Map<string, number>()
  const isStranded = (pod: Pod) => pod.spec.nodeName !== undefined && nodes.get('', pod.spec.nodeName) === undefined
  return new Controller(context, {
    name: 'pod-garbage-collector',
    watches: {
      nodes: ({ type, object }, enqueue) => {
        const { name } = asObject(object).metadata
        if (type !== 'DELETED') missingSinceMs.delete(name)
        else for (const pod of context.pods.onNode(name)) enqueue(keyOf(pod))
      },
      pods: ({ type, object }, enqueue) => {
        const pod = asObject<Pod>(object)
        if (type !== 'DELETED' && isStranded(pod)) enqueue(keyOf(pod))
      },
    },
    reset: () => missingSinceMs.clear(),
    async reconcile(key) {
      const { namespace, name } = splitKey(key)
      const pod = pods.get(namespace, name)
      if (pod?.spec.nodeName === undefined || !isStranded(pod)) return undefined
      const nowMs = context.clock.now()
      const sinceMs = missingSinceMs.get(pod.spec.nodeName) ?? nowMs
      missingSinceMs.set(pod.spec.nodeName, sinceMs)
      if (nowMs < sinceMs + QUARANTINE_MS) return sinceMs + QUARANTINE_MS - nowMs
      if (!isFinished(pod)) await pods.updateStatus(pod, { ...pod.status, phase: 'Failed' })
      const live = pods.get(namespace, name)
      const isReported = live !== undefined && isTerminating(live) && live.metadata.deletionGracePeriodSeconds === 0
      if (live !== undefined && !isReported) await pods.delete(live, { gracePeriodSeconds: 0 })
      if (context.pods.onNode(pod.spec.nodeName).length === 0) missingSinceMs.delete(pod.spec.nodeName)
      return undefined
    },
  })
}
