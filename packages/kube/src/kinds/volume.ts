/** Volumes of a pod. */
import type { ObjectMeta } from '../objects.ts'
import type { ObjectFieldSelector, ResourceFieldSelector } from './container.ts'
import type { PersistentVolumeClaimSpec } from './persistent-volume.ts'

/** A key of a ConfigMap or Secret and the file it becomes. */
export interface KeyToPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

/** A file with the value of a pod field. */
export interface DownwardApiFile {
  readonly path: string
  readonly fieldRef?: ObjectFieldSelector
  readonly resourceFieldRef?: ResourceFieldSelector
  readonly mode?: number
}

/** One part of a projected volume. */
export interface VolumeProjection {
  readonly configMap?: { readonly name: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean }
  readonly secret?: { readonly name: string; readonly items?: readonly KeyToPath[]; readonly optional?: boolean }
  readonly downwardAPI?: { readonly items?: readonly DownwardApiFile[] }
  readonly serviceAccountToken?: {
    readonly path: string
    readonly audience?: string
    readonly expirationSeconds?: number
  }
}

/** Storage from a CSI driver for the lifetime of the pod. */
export interface CsiVolumeSource {
  readonly driver: string
  readonly readOnly?: boolean
  readonly fsType?: string
  readonly volumeAttributes?: Readonly<Record<string, string>>
  readonly nodePublishSecretRef?: { readonly name?: string }
}

/** A volume of a pod; exactly one source besides the name. */
export interface Volume {
  readonly name: string
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string }
  readonly hostPath?: { readonly path: string; readonly type?: string }
  readonly configMap?: {
    readonly name: string
    readonly items?: readonly KeyToPath[]
    readonly defaultMode?: number
    readonly optional?: boolean
  }
  readonly secret?: {
    readonly secretName: string
    readonly items?: readonly KeyToPath[]
    readonly defaultMode?: number
    readonly optional?: boolean
  }
  readonly projected?: { readonly sources?: readonly VolumeProjection[]; readonly defaultMode?: number }
  readonly downwardAPI?: { readonly items?: readonly DownwardApiFile[]; readonly defaultMode?: number }
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean }
  readonly ephemeral?: {
    readonly volumeClaimTemplate?: { readonly metadata?: ObjectMeta; readonly spec: PersistentVolumeClaimSpec }
  }
  readonly csi?: CsiVolumeSource
  readonly nfs?: { readonly server: string; readonly path: string; readonly readOnly?: boolean }
  readonly image?: { readonly reference?: string; readonly pullPolicy?: string }
}
