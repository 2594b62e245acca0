/** The controller of nodes: what it watches, and how little of it is kept. */
import { ConfigMaps, type Node, Nodes, Secrets } from '@reeve/kube'
import type { Transform } from '@reeve/runtime/cache'
import type { FunctionController } from '@reeve/runtime/operator'
import { DynaKubes } from '../../api/latest.ts'
import { type NodesOptions, nodesReconcile } from './nodes-reconcile.ts'

/**
 * The controller. Every change of a node counts, heartbeats included: they are what lets time be noticed. Most of them
 * cost neither a request nor a write.
 *
 * @example
 * defineOperator({ name, controllers: [nodesController({ namespace, podName })] })
 */
export function nodesController(options: NodesOptions): FunctionController<Node> {
  const { namespace } = options
  return {
    name: 'nodes-controller',
    for: { resource: Nodes, transform: keepScheduling },
    reads: [DynaKubes, Secrets, ConfigMaps].map((resource) => ({ resource, namespace })),
    reconcile: nodesReconcile(options),
    // All nodes share one ConfigMap.
    concurrency: 1,
    // Events of nodes are in the namespace default, where the operator has no rights.
    failureEvents: false,
  }
}

/** Only the fields of a node that say whether it takes pods: its images alone would be most of the operator's memory. */
const keepScheduling: Transform = (object) => {
  const { name, uid, resourceVersion, creationTimestamp, deletionTimestamp } = object.metadata
  const metadata = { name, uid, resourceVersion, creationTimestamp, ...(deletionTimestamp && { deletionTimestamp }) }
  // A transform is generic over all kinds; this one is given to the informer of nodes only.
  const { spec } = object as Node
  const { unschedulable, taints } = spec ?? {}
  return {
    ...object,
    metadata,
    spec: { ...(unschedulable && { unschedulable }), ...(taints && { taints }) },
    status: {},
  }
}
