/** Renews the Leases of nodes, which are their heartbeats. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import { isNodeReady, type Node } from './kinds/cluster.ts'
import { type ClusterObject, controllerReference } from './kinds/meta.ts'
import { asObject, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const NAMESPACE = 'kube-node-lease'
const LEASE_SECONDS = 40

interface Lease extends ClusterObject {
  readonly spec: {
    readonly holderIdentity: string
    readonly leaseDurationSeconds: number
    readonly renewTime: string
  }
}

/** Every ready node renews its Lease every `intervalMs`. Keys are names of nodes. */
export function createNodeHeartbeatController(context: ControllerContext, intervalMs: number): SimulatorController {
  const nodes = new ResourceClient<Node>(context.api, 'nodes')
  const leases = new ResourceClient<Lease>(context.api, 'leases.coordination.k8s.io')
  return new Controller(context, {
    name: 'node-heartbeats',
    watches: {
      nodes: ({ type, object, previous }, enqueue) => {
        const node = asObject<Node>(object)
        const wasReady = previous !== undefined && isNodeReady(asObject<Node>(previous))
        if (type !== 'DELETED' && isNodeReady(node) && !wasReady) enqueue(node.metadata.name)
      },
    },
    async reconcile(name) {
      const node = nodes.get('', name)
      if (node === undefined || !isNodeReady(node)) return undefined
      const renewTime = new Date(context.clock.now()).toISOString().replace('Z', '000Z')
      const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime }
      const existing = leases.get(NAMESPACE, name)
      if (existing === undefined) {
        const { controller: _none, blockOwnerDeletion: _neither, ...owner } = controllerReference(node)
        const metadata = { name, namespace: NAMESPACE, ownerReferences: [owner] }
        await leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
      } else await leases.update({ ...existing, spec })
      return intervalMs
    },
  })
}
