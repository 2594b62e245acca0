/** Persistent storage. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { ResourceList } from './container.ts'
import type { LabelSelector } from './label-selector.ts'

/** The access mode of a volume. */
export type AccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod'

/** The storage requested by a claim. */
export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly AccessMode[]
  readonly resources?: { readonly requests?: ResourceList; readonly limits?: ResourceList }
  readonly storageClassName?: string
  readonly volumeName?: string
  readonly volumeMode?: 'Filesystem' | 'Block'
  readonly volumeAttributesClassName?: string
  readonly selector?: LabelSelector
  readonly dataSource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
}

/** `v1` PersistentVolumeClaim. */
export interface PersistentVolumeClaim extends KubeObject {
  readonly spec?: PersistentVolumeClaimSpec
  readonly status?: {
    readonly phase?: 'Pending' | 'Bound' | 'Lost'
    readonly accessModes?: readonly AccessMode[]
    readonly capacity?: ResourceList
    readonly conditions?: readonly Condition[]
  }
}

/** `v1` PersistentVolume. Sources other than CSI are not typed. */
export interface PersistentVolume extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>> & {
    readonly capacity?: ResourceList
    readonly accessModes?: readonly AccessMode[]
    readonly persistentVolumeReclaimPolicy?: 'Retain' | 'Delete' | 'Recycle'
    readonly storageClassName?: string
    readonly volumeMode?: 'Filesystem' | 'Block'
    readonly claimRef?: { readonly namespace?: string; readonly name?: string; readonly uid?: string }
    readonly csi?: {
      readonly driver: string
      readonly volumeHandle: string
      readonly volumeAttributes?: Readonly<Record<string, string>>
    }
  }
  readonly status?: { readonly phase?: string; readonly reason?: string; readonly message?: string }
}

/** `storage.k8s.io/v1` StorageClass. */
export interface StorageClass extends KubeObject {
  readonly provisioner: string
  readonly parameters?: Readonly<Record<string, string>>
  readonly reclaimPolicy?: 'Retain' | 'Delete'
  readonly volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer'
  readonly allowVolumeExpansion?: boolean
  readonly mountOptions?: readonly string[]
}

/** `storage.k8s.io/v1` CSIDriver. */
export interface CsiDriver extends KubeObject {
  readonly spec: {
    readonly attachRequired?: boolean
    readonly podInfoOnMount?: boolean
    readonly fsGroupPolicy?: 'ReadWriteOnceWithFSType' | 'File' | 'None'
    readonly volumeLifecycleModes?: readonly ('Persistent' | 'Ephemeral')[]
    readonly storageCapacity?: boolean
    readonly requiresRepublish?: boolean
    readonly seLinuxMount?: boolean
    readonly tokenRequests?: readonly { readonly audience: string; readonly expirationSeconds?: number }[]
  }
}

/** `storage.k8s.io/v1` CSINode. */
export interface CsiNode extends KubeObject {
  readonly spec: {
    readonly drivers: readonly {
      readonly name: string
      readonly nodeID: string
      readonly topologyKeys?: readonly string[]
    }[]
  }
}
