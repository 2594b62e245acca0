/** Workloads of the `apps` group. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { IntOrString } from './container.ts'
import type { LabelSelector } from './label-selector.ts'
import type { PersistentVolumeClaim } from './persistent-volume.ts'
import type { PodTemplateSpec } from './pod.ts'

/** `apps/v1` Deployment. */
export interface Deployment extends KubeObject {
  readonly spec?: {
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly replicas?: number
    readonly strategy?: {
      readonly type?: 'RollingUpdate' | 'Recreate'
      readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString }
    }
    readonly minReadySeconds?: number
    readonly revisionHistoryLimit?: number
    readonly progressDeadlineSeconds?: number
    readonly paused?: boolean
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly unavailableReplicas?: number
    readonly terminatingReplicas?: number
    readonly collisionCount?: number
    readonly conditions?: readonly (Condition & { readonly lastUpdateTime?: string })[]
  }
}

/** `apps/v1` ReplicaSet. */
export interface ReplicaSet extends KubeObject {
  readonly spec?: {
    readonly selector: LabelSelector
    readonly template?: PodTemplateSpec
    readonly replicas?: number
    readonly minReadySeconds?: number
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas: number
    readonly fullyLabeledReplicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly Condition[]
  }
}

/** `apps/v1` StatefulSet. */
export interface StatefulSet extends KubeObject {
  readonly spec?: {
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly serviceName?: string
    readonly replicas?: number
    readonly volumeClaimTemplates?: readonly Partial<PersistentVolumeClaim>[]
    readonly podManagementPolicy?: 'OrderedReady' | 'Parallel'
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete'
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrString }
    }
    readonly revisionHistoryLimit?: number
    readonly minReadySeconds?: number
    readonly persistentVolumeClaimRetentionPolicy?: {
      readonly whenDeleted?: 'Retain' | 'Delete'
      readonly whenScaled?: 'Retain' | 'Delete'
    }
    readonly ordinals?: { readonly start?: number }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas: number
    readonly readyReplicas?: number
    readonly currentReplicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly currentRevision?: string
    readonly updateRevision?: string
    readonly collisionCount?: number
    readonly conditions?: readonly Condition[]
  }
}

/** `apps/v1` DaemonSet. */
export interface DaemonSet extends KubeObject {
  readonly spec?: {
    readonly selector: LabelSelector
    readonly template: PodTemplateSpec
    readonly updateStrategy?: {
      readonly type?: 'RollingUpdate' | 'OnDelete'
      readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString }
    }
    readonly minReadySeconds?: number
    readonly revisionHistoryLimit?: number
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly currentNumberScheduled: number
    readonly desiredNumberScheduled: number
    readonly numberMisscheduled: number
    readonly numberReady: number
    readonly updatedNumberScheduled?: number
    readonly numberAvailable?: number
    readonly numberUnavailable?: number
    readonly collisionCount?: number
    readonly conditions?: readonly Condition[]
  }
}

/** `apps/v1` ControllerRevision: a stored state of a StatefulSet or DaemonSet. */
export interface ControllerRevision extends KubeObject {
  readonly data?: Readonly<Record<string, unknown>>
  readonly revision: number
}
