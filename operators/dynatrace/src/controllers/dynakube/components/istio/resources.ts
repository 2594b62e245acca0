/** The two resources of Istio that let traffic out of a mesh. */
import { type KubeObject, resource } from '@reeve/kube'

const GROUP = { group: 'networking.istio.io', version: 'v1beta1', namespaced: true } as const

/** Makes hosts outside the mesh known to it. */
export interface ServiceEntry extends KubeObject {
  readonly spec?: ServiceEntrySpec
}

/** The part of {@link ServiceEntry} that the operator writes. */
export interface ServiceEntrySpec {
  readonly hosts: readonly string[]
  readonly addresses?: readonly string[]
  readonly ports: readonly { readonly name: string; readonly number: number; readonly protocol: string }[]
  /** @default NONE */
  readonly resolution?: 'DNS'
}

/** Where a route leads. */
export interface RouteDestination {
  readonly destination: { readonly host: string; readonly port: { readonly number: number } }
}

/** Says how requests to hosts are routed. */
export interface VirtualService extends KubeObject {
  readonly spec?: VirtualServiceSpec
}

/** The part of {@link VirtualService} that the operator writes. */
export interface VirtualServiceSpec {
  readonly hosts: readonly string[]
  readonly tls?: readonly {
    readonly match: readonly { readonly sniHosts: readonly string[]; readonly port: number }[]
    readonly route: readonly RouteDestination[]
  }[]
  readonly http?: readonly {
    readonly match: readonly { readonly port: number }[]
    readonly route: readonly RouteDestination[]
  }[]
}

/** See {@link ServiceEntry}. */
export const ServiceEntries = resource<ServiceEntry>({ ...GROUP, kind: 'ServiceEntry', plural: 'serviceentries' })
/** See {@link VirtualService}. */
export const VirtualServices = resource<VirtualService>({ ...GROUP, kind: 'VirtualService', plural: 'virtualservices' })

/** They exist only where Istio is installed, so no informer may rely on them. */
export const ISTIO_KINDS = [ServiceEntries, VirtualServices] as const
