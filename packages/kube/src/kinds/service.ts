/** Services and endpoints. */
import type { KubeObject } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { IntOrString } from './container.ts'

/** A port of a Service. */
export interface ServicePort {
  readonly port: number
  readonly name?: string
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
  readonly targetPort?: IntOrString
  readonly nodePort?: number
  readonly appProtocol?: string
}

/** An address of a load balancer. */
export interface LoadBalancerIngress {
  readonly ip?: string
  readonly hostname?: string
  readonly ipMode?: string
}

/** `v1` Service. */
export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
    readonly selector?: Readonly<Record<string, string>>
    readonly ports?: readonly ServicePort[]
    /** `None` makes the service headless. */
    readonly clusterIP?: string
    readonly clusterIPs?: readonly string[]
    readonly externalName?: string
    readonly externalIPs?: readonly string[]
    readonly externalTrafficPolicy?: 'Cluster' | 'Local'
    readonly internalTrafficPolicy?: 'Cluster' | 'Local'
    readonly trafficDistribution?: string
    readonly healthCheckNodePort?: number
    readonly ipFamilies?: readonly ('IPv4' | 'IPv6')[]
    readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack'
    readonly loadBalancerClass?: string
    readonly loadBalancerIP?: string
    readonly loadBalancerSourceRanges?: readonly string[]
    readonly allocateLoadBalancerNodePorts?: boolean
    readonly publishNotReadyAddresses?: boolean
    readonly sessionAffinity?: 'None' | 'ClientIP'
    readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } }
  }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] }
    readonly conditions?: readonly Condition[]
  }
}

/** `discovery.k8s.io/v1` EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  readonly addressType: 'IPv4' | 'IPv6' | 'FQDN'
  readonly endpoints: readonly {
    readonly addresses: readonly string[]
    readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean }
    readonly hostname?: string
    readonly nodeName?: string
    readonly zone?: string
  }[]
  readonly ports?: readonly {
    readonly name?: string
    readonly port?: number
    readonly protocol?: string
    readonly appProtocol?: string
  }[]
}
