/** Types of namespaces, nodes, services, volumes and disruption budgets. */
import type { ClusterObject, Condition, IntOrPercent, LabelSelector, Labels, ObjectReference } from './meta.ts'
import type { NodeSelectorTerm } from './pods.ts'

/** A namespace; it is deleted when both its lists of finalizers are empty. */
export interface Namespace extends ClusterObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] }
}

/** The identity of a pod. */
export interface ServiceAccount extends ClusterObject {
  readonly secrets?: readonly ObjectReference[]
}

/** Configuration that pods read. */
export interface ConfigMap extends ClusterObject {
  readonly data?: Labels
}

/** Repels pods from a node unless they tolerate it. */
export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

/** A machine that runs pods. */
export interface Node extends ClusterObject {
  readonly spec?: {
    readonly taints?: readonly Taint[]
    readonly unschedulable?: boolean
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly providerID?: string
  }
  readonly status?: NodeStatus
}

/** The capacity and conditions of a node. */
export interface NodeStatus {
  readonly capacity?: Labels
  readonly allocatable?: Labels
  readonly conditions?: readonly (Condition & { readonly lastHeartbeatTime?: string })[]
  readonly addresses?: readonly { readonly type: string; readonly address: string }[]
  readonly daemonEndpoints?: { readonly kubeletEndpoint: { readonly Port: number } }
  readonly nodeInfo?: Readonly<Record<string, string>>
  readonly images?: readonly unknown[]
}

/** A port of a Service and its target. */
export interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly protocol?: string
  readonly targetPort?: number | string
  readonly appProtocol?: string
}

/** A name and address for a set of pods. */
export interface Service extends ClusterObject {
  readonly spec: {
    readonly type?: string
    readonly selector?: Labels
    readonly ports?: readonly ServicePort[]
    readonly clusterIP?: string
    readonly ipFamilies?: readonly string[]
    readonly publishNotReadyAddresses?: boolean
    readonly loadBalancerClass?: string
  }
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } }
}

/** The address of one pod behind a Service. */
export interface EndpointAddress {
  readonly ip: string
  readonly hostname?: string
  readonly nodeName?: string
  readonly targetRef?: ObjectReference
}

/** A port that the pods behind a Service serve. */
export interface EndpointPort {
  readonly name?: string
  readonly port: number
  readonly protocol?: string
  readonly appProtocol?: string
}

/** Pods that serve the same ports. */
export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[]
  readonly notReadyAddresses?: readonly EndpointAddress[]
  readonly ports?: readonly EndpointPort[]
}

/** All pods behind a Service in one object. */
export interface Endpoints extends ClusterObject {
  readonly subsets?: readonly EndpointSubset[]
}

/** One pod in an EndpointSlice. */
export interface SliceEndpoint {
  readonly addresses: readonly string[]
  readonly conditions: { readonly ready: boolean; readonly serving: boolean; readonly terminating: boolean }
  readonly hostname?: string
  readonly nodeName?: string
  readonly zone?: string
  readonly targetRef?: ObjectReference
}

/** Some of the pods behind a Service. */
export interface EndpointSlice extends ClusterObject {
  readonly addressType: string
  readonly endpoints: readonly SliceEndpoint[] | null
  readonly ports?: readonly EndpointPort[] | null
}

/** The storage requested by a claim. */
export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly string[]
  readonly resources?: { readonly requests?: Labels }
  readonly storageClassName?: string
  readonly volumeName?: string
  readonly volumeMode?: string
  readonly selector?: LabelSelector
}

/** A request for storage, and its binding. */
export interface PersistentVolumeClaim extends ClusterObject {
  readonly spec: PersistentVolumeClaimSpec
  readonly status?: {
    readonly phase?: string
    readonly accessModes?: readonly string[]
    readonly capacity?: Labels
    readonly conditions?: readonly Condition[]
  }
}

/** A piece of storage. */
export interface PersistentVolume extends ClusterObject {
  readonly spec: {
    readonly capacity?: Labels
    readonly accessModes?: readonly string[]
    readonly claimRef?: ObjectReference
    readonly persistentVolumeReclaimPolicy?: string
    readonly storageClassName?: string
    readonly volumeMode?: string
    readonly hostPath?: { readonly path: string; readonly type?: string }
    readonly nodeAffinity?: { readonly required?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] } }
  }
  readonly status?: { readonly phase?: string; readonly lastPhaseTransitionTime?: string }
}

/** How and when volumes are provisioned. */
export interface StorageClass extends ClusterObject {
  readonly provisioner: string
  readonly reclaimPolicy?: string
  readonly volumeBindingMode?: string
  readonly allowVolumeExpansion?: boolean
}

/** The disruptions that the budget currently allows. */
export interface PodDisruptionBudgetStatus {
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly disruptionsAllowed: number
  readonly expectedPods: number
  readonly observedGeneration?: number
  readonly disruptedPods?: Readonly<Record<string, string>>
  readonly conditions?: readonly Condition[]
}

/** How many of a set of pods must stay available during voluntary disruptions. */
export interface PodDisruptionBudget extends ClusterObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly minAvailable?: IntOrPercent
    readonly maxUnavailable?: IntOrPercent
  }
  readonly status?: PodDisruptionBudgetStatus
}

/** Whether the node is ready. */
export function isNodeReady(node: Node): boolean {
  return node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
}
