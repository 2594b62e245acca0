/** Ingresses and network policies. */
import type { KubeObject } from '../objects.ts'
import type { IntOrString } from './container.ts'
import type { LabelSelector } from './label-selector.ts'
import type { LoadBalancerIngress } from './service.ts'

/** The backend of an Ingress. */
export interface IngressBackend {
  readonly service?: { readonly name: string; readonly port?: { readonly name?: string; readonly number?: number } }
  readonly resource?: { readonly apiGroup?: string; readonly kind: string; readonly name: string }
}

/** One path of an Ingress rule. */
export interface HttpIngressPath {
  readonly path?: string
  readonly pathType: 'Exact' | 'Prefix' | 'ImplementationSpecific'
  readonly backend: IngressBackend
}

/** `networking.k8s.io/v1` Ingress. */
export interface Ingress extends KubeObject {
  readonly spec?: {
    readonly ingressClassName?: string
    readonly defaultBackend?: IngressBackend
    readonly rules?: readonly {
      readonly host?: string
      readonly http?: { readonly paths: readonly HttpIngressPath[] }
    }[]
    readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[]
  }
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly LoadBalancerIngress[] } }
}

/** `networking.k8s.io/v1` IngressClass. */
export interface IngressClass extends KubeObject {
  readonly spec?: { readonly controller?: string; readonly parameters?: Readonly<Record<string, unknown>> }
}

/** The peer of a NetworkPolicy rule. */
export interface NetworkPolicyPeer {
  readonly podSelector?: LabelSelector
  readonly namespaceSelector?: LabelSelector
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] }
}

/** A port of a NetworkPolicy rule. */
export interface NetworkPolicyPort {
  readonly port?: IntOrString
  readonly endPort?: number
  readonly protocol?: 'TCP' | 'UDP' | 'SCTP'
}

/** `networking.k8s.io/v1` NetworkPolicy. */
export interface NetworkPolicy extends KubeObject {
  readonly spec?: {
    readonly podSelector?: LabelSelector
    readonly policyTypes?: readonly ('Ingress' | 'Egress')[]
    readonly ingress?: readonly {
      readonly from?: readonly NetworkPolicyPeer[]
      readonly ports?: readonly NetworkPolicyPort[]
    }[]
    readonly egress?: readonly {
      readonly to?: readonly NetworkPolicyPeer[]
      readonly ports?: readonly NetworkPolicyPort[]
    }[]
  }
}
