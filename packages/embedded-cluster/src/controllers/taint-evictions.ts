/** Deletes pods from nodes whose NoExecute taints they do not tolerate, or no longer tolerate. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { Node, Taint } from './kinds/cluster.ts'
import { isTerminating, keyOf, splitKey } from './kinds/meta.ts'
import { isFinished, type Pod } from './kinds/pods.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import { covers } from './scheduling/node-fit.ts'
import type { SimulatorController } from './simulator-controller.ts'
import { parseTimestamp } from './time.ts'

const SOURCE = 'taint-eviction-controller'

/** When the pod must be evicted, in milliseconds since the epoch; infinite if it may stay. */
function evictionTimeMs(pod: Pod, taints: readonly Taint[], sinceMs: (taint: Taint) => number): number {
  let dueMs = Number.POSITIVE_INFINITY
  for (const taint of taints) {
    const tolerations = (pod.spec.tolerations ?? []).filter((toleration) => covers(toleration, taint))
    if (tolerations.length === 0) return 0
    const seconds = Math.min(
      ...tolerations.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds),
    )
    dueMs = Math.min(dueMs, sinceMs(taint) + Math.max(0, seconds) * 1000)
  }
  return dueMs
}

function noExecuteTaints(node: Node | undefined): readonly Taint[] {
  return node?.spec?.taints?.filter(({ effect }) => effect === 'NoExecute') ?? []
}

/** Keys are those of pods. */
export function createTaintEvictionController(context: ControllerContext): SimulatorController {
  const pods = new ResourceClient<Pod>(context.api, 'pods')
  const nodes = new ResourceClient<Node>(context.api, 'nodes')
  /** When taints without a timestamp were first observed, by node. */
  const seen = new Map<string, Map<string, number>>()

  function noteTaints(node: Node, isGone: boolean): void {
    const { name } = node.metadata
    const taints = isGone ? [] : noExecuteTaints(node)
    if (taints.length === 0) seen.delete(name)
    else {
      const before = seen.get(name)
      seen.set(name, new Map(taints.map(({ key }) => [key, before?.get(key) ?? context.clock.now()])))
    }
  }

  return new Controller(context, {
    name: 'taint-evictions',
    watches: {
      nodes: ({ type, object, previous }, enqueue) => {
        const node = asObject<Node>(object)
        const before = previous === undefined ? undefined : asObject<Node>(previous)
        noteTaints(node, type === 'DELETED')
        if (type === 'DELETED' || noExecuteTaints(node).length + noExecuteTaints(before).length === 0) return
        for (const pod of context.pods.onNode(node.metadata.name)) enqueue(keyOf(pod))
      },
      pods: ({ type, object }, enqueue) => {
        const pod = asObject<Pod>(object)
        if (type === 'DELETED' || pod.spec.nodeName === undefined) return
        if (noExecuteTaints(nodes.get('', pod.spec.nodeName)).length > 0) enqueue(keyOf(pod))
      },
    },
    reset: () => seen.clear(),
    async reconcile(key) {
      const { namespace, name } = splitKey(key)
      const pod = pods.get(namespace, name)
      if (pod?.spec.nodeName === undefined || isTerminating(pod) || isFinished(pod)) return undefined
      const nowMs = context.clock.now()
      const { nodeName } = pod.spec
      const sinceMs = (taint: Taint) => parseTimestamp(taint.timeAdded) ?? seen.get(nodeName)?.get(taint.key) ?? nowMs
      const dueMs = evictionTimeMs(pod, noExecuteTaints(nodes.get('', nodeName)), sinceMs)
      if (dueMs > nowMs) return Number.isFinite(dueMs) ? dueMs - nowMs : undefined
      const message = `node ${nodeName} has a taint the pod does not tolerate`
      await context.events.record(pod, { reason: 'TaintManagerEviction', message, source: SOURCE })
      await pods.delete(pod)
      return undefined
    },
  })
}
