/** Types of workloads: apps/v1 and batch/v1. */
import type { PersistentVolumeClaimSpec } from './cluster.ts'
import type {
  ClusterObject,
  Condition,
  IntOrPercent,
  LabelSelector,
  Labels,
  ObjectMeta,
  ObjectReference,
} from './meta.ts'
import type { PodTemplate } from './pods.ts'

/** The status of a ReplicaSet. */
export interface ReplicaSetStatus {
  readonly replicas?: number
  readonly fullyLabeledReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
}

/** A number of pods from one template. */
export interface ReplicaSet extends ClusterObject {
  readonly spec: {
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
  }
  readonly status?: ReplicaSetStatus
}

/** The predecessor of the ReplicaSet, whose selector is a plain map. */
export interface ReplicationController extends ClusterObject {
  readonly spec: Omit<ReplicaSet['spec'], 'selector'> & { readonly selector?: Labels }
  readonly status?: ReplicaSetStatus
}

/** The status of a Deployment. */
export interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly readyReplicas?: number
  readonly availableReplicas?: number
  readonly unavailableReplicas?: number
  readonly collisionCount?: number
  readonly conditions?: readonly Condition[]
}

/** A number of pods whose template may change. */
export interface Deployment extends ClusterObject {
  readonly spec: {
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
    readonly strategy?: {
      readonly type?: string
      readonly rollingUpdate?: { readonly maxSurge?: IntOrPercent; readonly maxUnavailable?: IntOrPercent }
    }
    readonly paused?: boolean
    readonly revisionHistoryLimit?: number
    readonly progressDeadlineSeconds?: number
  }
  readonly status?: DeploymentStatus
}

/** A stored pod template of a StatefulSet or DaemonSet. */
export interface ControllerRevision extends ClusterObject {
  readonly data: { readonly spec: { readonly template: PodTemplate } }
  readonly revision: number
}

/** The template of a claim that each pod of a StatefulSet gets. */
export interface ClaimTemplate {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: Partial<ObjectMeta> & { readonly name: string }
  readonly spec: PersistentVolumeClaimSpec
}

/** The status of a StatefulSet. */
export interface StatefulSetStatus {
  readonly observedGeneration?: number
  readonly replicas: number
  readonly readyReplicas?: number
  readonly currentReplicas?: number
  readonly updatedReplicas?: number
  readonly availableReplicas?: number
  readonly currentRevision?: string
  readonly updateRevision?: string
  readonly collisionCount?: number
}

/** Pods with stable names, in order. */
export interface StatefulSet extends ClusterObject {
  readonly spec: {
    readonly replicas?: number
    readonly minReadySeconds?: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
    readonly serviceName?: string
    readonly podManagementPolicy?: string
    readonly updateStrategy?: {
      readonly type?: string
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: IntOrPercent }
    }
    readonly volumeClaimTemplates?: readonly ClaimTemplate[]
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string }
    readonly ordinals?: { readonly start?: number }
    readonly revisionHistoryLimit?: number
  }
  readonly status?: StatefulSetStatus
}

/** The status of a DaemonSet. */
export interface DaemonSetStatus {
  readonly currentNumberScheduled: number
  readonly numberMisscheduled: number
  readonly desiredNumberScheduled: number
  readonly numberReady: number
  readonly observedGeneration?: number
  readonly updatedNumberScheduled?: number
  readonly numberAvailable?: number
  readonly numberUnavailable?: number
  readonly collisionCount?: number
}

/** A pod on every matching node. */
export interface DaemonSet extends ClusterObject {
  readonly spec: {
    readonly minReadySeconds?: number
    readonly selector: LabelSelector
    readonly template: PodTemplate
    readonly updateStrategy?: {
      readonly type?: string
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrPercent; readonly maxSurge?: IntOrPercent }
    }
    readonly revisionHistoryLimit?: number
  }
  readonly status?: DaemonSetStatus
}

/** What a Job does about a pod that failed in a certain way. */
export interface PodFailureRule {
  readonly action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count'
  readonly onExitCodes?: {
    readonly containerName?: string
    readonly operator: 'In' | 'NotIn'
    readonly values: readonly number[]
  }
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[]
}

/** When a Job has succeeded although some indexes have not. */
export interface SuccessRule {
  readonly succeededIndexes?: string
  readonly succeededCount?: number
}

/** The specification of a Job. */
export interface JobSpec {
  readonly parallelism?: number
  readonly completions?: number
  readonly completionMode?: string
  readonly backoffLimit?: number
  /** Failures of one index before it fails for good; the others go on. */
  readonly backoffLimitPerIndex?: number
  readonly maxFailedIndexes?: number
  readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] }
  readonly podReplacementPolicy?: string
  readonly successPolicy?: { readonly rules: readonly SuccessRule[] }
  readonly activeDeadlineSeconds?: number
  readonly ttlSecondsAfterFinished?: number
  readonly suspend?: boolean
  /** The controller that manages the Job; the built-in one if absent. */
  readonly managedBy?: string
  readonly selector?: LabelSelector
  readonly template: PodTemplate
}

/** The status of a Job. */
export interface JobStatus {
  readonly conditions?: readonly Condition[]
  readonly startTime?: string
  readonly completionTime?: string
  readonly active?: number
  readonly ready?: number
  readonly terminating?: number
  readonly succeeded?: number
  readonly failed?: number
  readonly completedIndexes?: string
  readonly failedIndexes?: string
  readonly uncountedTerminatedPods?: { readonly succeeded?: readonly string[]; readonly failed?: readonly string[] }
}

/** Pods that run to completion. */
export interface Job extends ClusterObject {
  readonly spec: JobSpec
  readonly status?: JobStatus
}

/** Creates Jobs on a schedule. */
export interface CronJob extends ClusterObject {
  readonly spec: {
    readonly schedule: string
    readonly timeZone?: string
    readonly concurrencyPolicy?: string
    readonly suspend?: boolean
    readonly startingDeadlineSeconds?: number
    readonly successfulJobsHistoryLimit?: number
    readonly failedJobsHistoryLimit?: number
    readonly jobTemplate: {
      readonly metadata?: {
        readonly labels?: Labels
        readonly annotations?: Labels
      }
      readonly spec: JobSpec
    }
  }
  readonly status?: CronJobStatus
}

/** The status of a CronJob. */
export interface CronJobStatus {
  readonly active?: readonly ObjectReference[]
  readonly lastScheduleTime?: string
  readonly lastSuccessfulTime?: string
}
