/** Lists the registered CSI drivers of each node in its CSINode object. */
import type { ControllerContext } from './context.ts'
import { Controller } from './controller.ts'
import type { Node } from './kinds/cluster.ts'
import { type ClusterObject, controllerReference } from './kinds/meta.ts'
import type { Pod } from './kinds/pods.ts'
import { type CsiNodeDriver, csiNodeDrivers, driversOf, registeredDrivers } from './kubelet/csi-drivers.ts'
import { asObject, jsonEquals, ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

/** The CSI drivers that are registered on the node of the same name. */
export interface CsiNode extends ClusterObject {
  readonly spec: { readonly drivers: readonly CsiNodeDriver[] | null }
}

/** What a CSI driver supports, by its name. */
export interface CsiDriver extends ClusterObject {
  /** Modes have a default. */
  readonly spec: { readonly volumeLifecycleModes: readonly string[] }
}

/** The resource of CSINodes, for watches. */
export const CSI_NODES = 'csinodes.storage.k8s.io'

/** Keys are names of nodes. A node without drivers has no CSINode; the object is deleted with its node. */
export function createCsiNodeController(context: ControllerContext): SimulatorController {
  const nodes = new ResourceClient<Node>(context.api, 'nodes')
  const csiNodes = new ResourceClient<CsiNode>(context.api, CSI_NODES)
  return new Controller(context, {
    name: 'csi-nodes',
    watches: {
      pods: ({ object }, enqueue) => {
        const pod = asObject<Pod>(object)
        if (pod.spec.nodeName !== undefined && driversOf(pod).length > 0) enqueue(pod.spec.nodeName)
      },
      // Restores what was deleted or edited by hand.
      [CSI_NODES]: ({ object }, enqueue) => enqueue(asObject(object).metadata.name),
    },
    async reconcile(name) {
      const node = nodes.get('', name)
      if (node === undefined) return undefined
      const existing = csiNodes.get('', name)
      const listed = existing?.spec.drivers ?? []
      const drivers = csiNodeDrivers(name, registeredDrivers(context.pods.onNode(name)), listed)
      if (existing !== undefined) {
        if (!jsonEquals(drivers, listed)) await csiNodes.update({ ...existing, spec: { drivers } })
      } else if (drivers.length > 0) {
        const { controller: _none, blockOwnerDeletion: _neither, ...owner } = controllerReference(node)
        const metadata = { name, ownerReferences: [owner] }
        await csiNodes.create({ apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata, spec: { drivers } })
      }
      return undefined
    },
  })
}
