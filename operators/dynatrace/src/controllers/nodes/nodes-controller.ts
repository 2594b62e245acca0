/** The controller of nodes: what it watches, and how little of it is kept. */
import { ConfigMaps, type Node, Nodes, Secrets } from '@reeve/kube'
import type { Transform } from '@reeve/runtime/cache'
import {
  type Controller,
  type ControllerEnvironment,
  type ControllerOptions,
  controller,
} from '@reeve/runtime/controller'
import { DynaKubes } from '../../api/latest.ts'
import { FIELD_MANAGER } from '../field-manager.ts'
import { type NodesOptions, nodesReconcile } from './nodes-reconcile.ts'

/** Options of {@link nodesController}. */
export interface NodesControllerOptions extends NodesOptions {
  readonly backoff?: ControllerOptions<Node>['backoff']
  readonly onReconcile?: ControllerOptions<Node>['onReconcile']
}

/**
 * Makes the controller. Every change of a node counts, heartbeats included: they are what lets time be noticed. Most of
 * them cost neither a request nor a write.
 *
 * @example
 * if (detectsHostAvailability) manager.add(nodesController({ namespace, podName }, { cache, client: manager.client }))
 */
export function nodesController(
  options: NodesControllerOptions,
  dependencies: ControllerEnvironment,
): Controller<Node> {
  const { namespace, backoff, onReconcile } = options
  // The same as that of the other controllers, which share their informers then.
  const transform = dependencies.cache.ownFields(FIELD_MANAGER)
  return controller<Node>(
    {
      name: 'nodes-controller',
      for: { resource: Nodes, transform: keepScheduling },
      reads: [
        { resource: DynaKubes, namespace },
        { resource: Secrets, namespace, transform },
        { resource: ConfigMaps, namespace, transform },
      ],
      reconcile: nodesReconcile(options),
      // All nodes share one ConfigMap.
      concurrency: 1,
      ...(backoff && { backoff }),
      ...(onReconcile && { onReconcile }),
    },
    dependencies,
  )
}

/** Of a node only what says whether it takes pods: its images alone would be most of the operator's memory. */
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
