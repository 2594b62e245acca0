/** Pods and pod templates. */
import type { KubeObject, ObjectMeta } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { Container, SecurityProfile, SeLinuxOptions } from './container.ts'
import type { Affinity, Toleration, TopologySpreadConstraint } from './scheduling.ts'
import type { Volume } from './volume.ts'

/** Privileges of all containers of a pod. */
export interface PodSecurityContext {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly fsGroup?: number
  readonly fsGroupChangePolicy?: 'OnRootMismatch' | 'Always'
  readonly supplementalGroups?: readonly number[]
  readonly supplementalGroupsPolicy?: 'Merge' | 'Strict'
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[]
  readonly seLinuxOptions?: SeLinuxOptions
  readonly seccompProfile?: SecurityProfile
  readonly appArmorProfile?: SecurityProfile
}

/** The specification of a pod. */
export interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly (Container & { readonly targetContainerName?: string })[]
  readonly volumes?: readonly Volume[]
  readonly serviceAccountName?: string
  /** The deprecated name of `serviceAccountName`, which some clients still read. */
  readonly serviceAccount?: string
  readonly automountServiceAccountToken?: boolean
  readonly imagePullSecrets?: readonly { readonly name: string }[]
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  readonly terminationGracePeriodSeconds?: number
  readonly activeDeadlineSeconds?: number
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly affinity?: Affinity
  readonly tolerations?: readonly Toleration[]
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[]
  readonly priorityClassName?: string
  readonly priority?: number
  readonly preemptionPolicy?: string
  readonly schedulerName?: string
  readonly schedulingGates?: readonly { readonly name: string }[]
  readonly runtimeClassName?: string
  readonly securityContext?: PodSecurityContext
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly hostUsers?: boolean
  readonly shareProcessNamespace?: boolean
  readonly hostname?: string
  readonly subdomain?: string
  readonly setHostnameAsFQDN?: boolean
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[]
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None'
  readonly dnsConfig?: {
    readonly nameservers?: readonly string[]
    readonly searches?: readonly string[]
    readonly options?: readonly { readonly name?: string; readonly value?: string }[]
  }
  readonly enableServiceLinks?: boolean
  readonly readinessGates?: readonly { readonly conditionType: string }[]
  readonly overhead?: Readonly<Record<string, string>>
  readonly os?: { readonly name: 'linux' | 'windows' }
}

/** The template of a workload's pods. */
export interface PodTemplateSpec {
  readonly metadata?: ObjectMeta
  readonly spec?: PodSpec
}

/** State of one container; at most one field is set. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly signal?: number
    readonly reason?: string
    readonly message?: string
    readonly startedAt?: string
    readonly finishedAt?: string
  }
}

/** The status of one container. */
export interface ContainerStatus {
  readonly name: string
  readonly ready: boolean
  readonly started?: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

/** The status of a pod. */
export interface PodStatus {
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  readonly conditions?: readonly Condition[]
  readonly message?: string
  readonly reason?: string
  readonly hostIP?: string
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly startTime?: string
  readonly qosClass?: string
  readonly nominatedNodeName?: string
  readonly observedGeneration?: number
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
}

/** `v1` Pod. */
export interface Pod extends KubeObject {
  readonly spec?: PodSpec
  readonly status?: PodStatus
}
