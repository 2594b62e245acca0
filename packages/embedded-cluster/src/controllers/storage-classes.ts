/** Creates a default StorageClass at start if the cluster has none, so that claims can be bound. */
import type { ControllerContext } from './context.ts'
import { isAlreadyExists } from './control-loop.ts'
import { Controller } from './controller.ts'
import type { StorageClass } from './kinds/cluster.ts'
import { ResourceClient } from './resource-client.ts'
import type { SimulatorController } from './simulator-controller.ts'

const NAME = 'standard'

/** Runs once: a class that is deleted later stays deleted. */
export function createStorageClassController(context: ControllerContext): SimulatorController {
  const classes = new ResourceClient<StorageClass>(context.api, 'storageclasses.storage.k8s.io')
  return new Controller(context, {
    name: 'storage-classes',
    watches: {},
    initialKeys: [NAME],
    async reconcile(name) {
      if (classes.list().length > 0) return undefined
      try {
        await classes.create({
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
          provisioner: 'simulator.reeve.dev/volumes',
          reclaimPolicy: 'Delete',
          volumeBindingMode: 'Immediate',
          allowVolumeExpansion: true,
        })
      } catch (error) {
        if (!isAlreadyExists(error)) throw error
      }
      return undefined
    },
  })
}
