/** Types of pods and pod templates. */
import type { ClusterObject, Condition, LabelRequirement, LabelSelector, Labels } from './meta.ts'

/** A port a container listens on. */
export interface ContainerPort {
  readonly name?: string
  readonly containerPort: number
  readonly hostPort?: number
  readonly protocol?: string
}

/** A ConfigMap or Secret, or one key of it. */
export interface KeyReference {
  readonly name?: string
  readonly key?: string
  readonly optional?: boolean
}

/** A variable and the source of its value. */
export interface EnvironmentVariable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly configMapKeyRef?: KeyReference
    readonly secretKeyRef?: KeyReference
    readonly fieldRef?: { readonly fieldPath: string }
  }
}

/** A health check of a container. */
export interface Probe {
  readonly tcpSocket?: { readonly port: number }
  readonly initialDelaySeconds?: number
}

/** Requests and limits of a container. */
export interface ResourceRequirements {
  readonly requests?: Labels
  readonly limits?: Labels
}

/** A container of a pod. */
export interface Container {
  readonly name: string
  readonly image?: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly ports?: readonly ContainerPort[]
  readonly env?: readonly EnvironmentVariable[]
  readonly envFrom?: readonly { readonly configMapRef?: KeyReference; readonly secretRef?: KeyReference }[]
  readonly resources?: ResourceRequirements
  readonly startupProbe?: Probe
  readonly readinessProbe?: Probe
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string
}

/** A volume of a pod. */
export interface Volume {
  readonly name: string
  readonly persistentVolumeClaim?: { readonly claimName: string }
  readonly hostPath?: { readonly path: string }
  readonly csi?: { readonly driver: string }
  readonly configMap?: KeyReference
  readonly secret?: { readonly secretName?: string; readonly optional?: boolean }
  readonly projected?: {
    readonly sources?: readonly { readonly configMap?: KeyReference; readonly secret?: KeyReference }[]
  }
}

/** Node requirements that must all be satisfied. */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly LabelRequirement[]
  readonly matchFields?: readonly LabelRequirement[]
}

/** Pods to be close to or away from, and the topology that defines close. */
export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: LabelSelector
  readonly topologyKey: string
}

/** Scheduling preferences and requirements of a pod. */
export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms?: readonly NodeSelectorTerm[]
    }
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number
      readonly preference: NodeSelectorTerm
    }[]
  }
  readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] }
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] }
}

/** A taint that a pod tolerates. */
export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** How evenly pods must be spread over a topology. */
export interface TopologySpreadConstraint {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly whenUnsatisfiable: string
  readonly labelSelector?: LabelSelector
}

/** The specification of a pod. */
export interface PodSpec {
  readonly containers: readonly Container[]
  readonly initContainers?: readonly Container[]
  readonly ephemeralContainers?: readonly Container[]
  readonly volumes?: readonly Volume[]
  readonly nodeName?: string
  readonly nodeSelector?: Labels
  readonly affinity?: Affinity
  readonly tolerations?: readonly Toleration[]
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[]
  readonly schedulerName?: string
  readonly schedulingGates?: readonly unknown[]
  readonly restartPolicy?: string
  readonly hostNetwork?: boolean
  readonly hostname?: string
  readonly subdomain?: string
  readonly readinessGates?: readonly { readonly conditionType: string }[]
  readonly overhead?: Labels
}

/** How a container terminated. */
export interface TerminatedState {
  readonly exitCode: number
  readonly reason?: string
  readonly message?: string
  readonly startedAt?: string
  readonly finishedAt?: string
  readonly containerID?: string
}

/** One of waiting, running and terminated. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: TerminatedState
}

/** The status of a container. */
export interface ContainerStatus {
  readonly name: string
  readonly state: ContainerState
  readonly lastState: ContainerState
  readonly ready: boolean
  readonly started: boolean
  readonly restartCount: number
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
}

/** The status of a pod. */
export interface PodStatus {
  readonly phase?: string
  readonly reason?: string
  readonly message?: string
  readonly conditions?: readonly Condition[]
  readonly hostIP?: string
  readonly hostIPs?: readonly { readonly ip: string }[]
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly qosClass?: string
  readonly startTime?: string
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[]
}

/** Containers that run together on one node. */
export interface Pod extends ClusterObject {
  readonly spec: PodSpec
  readonly status?: PodStatus
}

/** The template of pods in a workload. */
export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Labels
    readonly annotations?: Labels
    readonly finalizers?: readonly string[]
  }
  readonly spec: PodSpec
}

/** Whether the pod has terminated, successfully or not. */
export function isFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
}

/** Whether the pod counts towards its controller's replicas: neither finished nor terminating. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && pod.metadata.deletionTimestamp === undefined
}

/** The pod's condition of the given type. */
export function podCondition(pod: Pod, type: string): Condition | undefined {
  return pod.status?.conditions?.find((condition) => condition.type === type)
}

/** Whether the pod is ready. */
export function isReady(pod: Pod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/** When the pod has been ready for `minReadySeconds`, in milliseconds since the epoch; `undefined` if not ready. */
export function availableAtMs(pod: Pod, minReadySeconds: number): number | undefined {
  const ready = podCondition(pod, 'Ready')
  if (ready?.status !== 'True') return undefined
  return minReadySeconds === 0 ? 0 : Date.parse(ready.lastTransitionTime ?? '') + minReadySeconds * 1000
}
