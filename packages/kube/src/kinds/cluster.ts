/** Cluster-level kinds: namespaces, nodes, identities, extension servers. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { ResourceList } from './container.ts'

/** `v1` Namespace. */
export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] }
  readonly status?: { readonly phase?: 'Active' | 'Terminating'; readonly conditions?: readonly Condition[] }
}

/** Repels pods without a matching toleration. */
export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  readonly timeAdded?: string
}

/** `v1` Node. */
export interface Node extends KubeObject {
  readonly spec?: {
    readonly providerID?: string
    readonly podCIDR?: string
    readonly podCIDRs?: readonly string[]
    readonly unschedulable?: boolean
    readonly taints?: readonly Taint[]
  }
  readonly status?: {
    readonly capacity?: ResourceList
    readonly allocatable?: ResourceList
    readonly conditions?: readonly (Condition & { readonly lastHeartbeatTime?: string })[]
    readonly addresses?: readonly { readonly type: string; readonly address: string }[]
    readonly nodeInfo?: Readonly<Record<string, unknown>> & {
      readonly kubeletVersion?: string
      readonly operatingSystem?: string
      readonly architecture?: string
      readonly osImage?: string
      readonly kernelVersion?: string
      readonly containerRuntimeVersion?: string
    }
    readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[]
  }
}

/** `v1` ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  readonly secrets?: readonly { readonly name?: string }[]
  readonly imagePullSecrets?: readonly { readonly name: string }[]
  readonly automountServiceAccountToken?: boolean
}

/** `apiregistration.k8s.io/v1` APIService. */
export interface ApiService extends KubeObject {
  readonly spec?: {
    readonly group?: string
    readonly version?: string
    readonly service?: { readonly name?: string; readonly namespace?: string; readonly port?: number }
    readonly groupPriorityMinimum: number
    readonly versionPriority: number
    readonly caBundle?: string
    readonly insecureSkipTLSVerify?: boolean
  }
  readonly status?: { readonly conditions?: readonly Condition[] }
}
