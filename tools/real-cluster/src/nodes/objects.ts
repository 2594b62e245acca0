/** The fields of Kubernetes objects that simulated nodes read and write. */

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
}

export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  readonly observedGeneration?: number
}

export interface Node {
  readonly metadata: ObjectMeta
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] }
  readonly status?: {
    readonly conditions?: readonly Condition[]
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } }
  }
}

export interface Container {
  readonly name: string
  readonly image?: string
  /** Only of init containers: `Always` makes a sidecar. */
  readonly restartPolicy?: string
}

export interface Volume {
  readonly name: string
  readonly hostPath?: { readonly path: string }
  readonly csi?: { readonly driver: string }
}

export interface SelectorTerm {
  readonly matchExpressions?: readonly SelectorRequirement[]
  readonly matchFields?: readonly SelectorRequirement[]
}

export interface SelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly running?: { readonly startedAt?: string }
  readonly terminated?: {
    readonly exitCode: number
    readonly reason?: string
    readonly startedAt?: string
    readonly finishedAt?: string
  }
}

export interface ContainerStatus {
  readonly name: string
  readonly image: string
  readonly imageID: string
  readonly containerID?: string
  readonly ready: boolean
  readonly started: boolean
  readonly restartCount: number
  readonly state: ContainerState
  readonly lastState?: ContainerState
}

export interface PodStatus {
  readonly phase?: string
  readonly observedGeneration?: number
  readonly conditions?: readonly Condition[]
  readonly hostIP?: string
  readonly hostIPs?: readonly { readonly ip: string }[]
  readonly podIP?: string
  readonly podIPs?: readonly { readonly ip: string }[]
  readonly startTime?: string
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
}

export interface Pod {
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly nodeName?: string
    readonly schedulerName?: string
    readonly hostNetwork?: boolean
    readonly restartPolicy?: string
    readonly nodeSelector?: Readonly<Record<string, string>>
    readonly schedulingGates?: readonly unknown[]
    readonly tolerations?: readonly Toleration[]
    readonly readinessGates?: readonly { readonly conditionType: string }[]
    readonly initContainers?: readonly Container[]
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms: readonly SelectorTerm[]
        }
      }
    }
  }
  readonly status?: PodStatus
}

/** `namespace/name`, or the name of a cluster-scoped object. */
export function keyOf(object: { readonly metadata: ObjectMeta }): string {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}
