/** Objects of Istio that let traffic to the tenant leave a mesh which blocks outgoing traffic. */
import { isIP } from 'node:net'
import { type DesiredObject, desired } from '@reeve/runtime'
import type { DynaKube } from '../../../../api/latest.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import { type DynaKubeComponent, type RenderInput, renderInputOf, runsNoPods } from '../../dynakube-component.ts'
import { apiHosts, type MeshHost } from './mesh-hosts.ts'
import { ServiceEntries, type ServiceEntrySpec, type VirtualServiceSpec, VirtualServices } from './resources.ts'

/** Whose traffic it is; part of names and labels. */
type Sender = 'operator' | 'oneagent' | 'activegate'

/** A DynaKube enables Istio in a cluster without it. */
export class IstioMissingError extends Error {
  readonly code = 'ISTIO_MISSING'
  override readonly name = 'IstioMissingError'

  constructor(cause: unknown) {
    super(
      'spec.enableIstio is true, but the cluster has no ServiceEntries and VirtualServices ' +
        '(networking.istio.io/v1beta1); install Istio or switch it off',
      { cause },
    )
  }
}

/** Whether the DynaKube needs objects of Istio. */
export const hasIstio = ({ spec }: DynaKube): boolean => spec.enableIstio === true

/** Allows the operator to reach the API of the tenant; applied before the first request. */
export const istioForApi: DynaKubeComponent = egress('Istio for the API', 'operator', apiHosts)

/**
 * A component that allows traffic of a sender to leave the mesh.
 *
 * @example
 * const istioForActiveGate = { ...egress('Istio for ActiveGate', 'activegate', gatewayHosts), needs: [tenant] }
 */
export function egress(
  name: string,
  sender: Sender,
  hostsOf: (dynakube: DynaKube) => readonly MeshHost[],
): DynaKubeComponent {
  return {
    name,
    isEnabled: hasIstio,
    isReady: runsNoPods,
    mayOwn(dynakube) {
      const { ips, names } = objectNames(dynakube, sender)
      return [
        { resource: ServiceEntries, name: ips },
        { resource: ServiceEntries, name: names },
        { resource: VirtualServices, name: names },
      ]
    },
    render: (input) => renderEgress(renderInputOf(input), sender, hostsOf(input.primary)),
  }
}

const objectNames = ({ metadata }: DynaKube, sender: Sender) => ({
  ips: `${metadata.name}-ip-${sender}`,
  names: `${metadata.name}-fqdn-${sender}`,
})

function renderEgress(
  { dynakube, operator }: RenderInput,
  sender: Sender,
  hosts: readonly MeshHost[],
): readonly DesiredObject[] {
  const { name: owner = '', namespace } = dynakube.metadata
  const { ips, names } = objectNames(dynakube, sender)
  const labels = coreLabels({ owner, component: sender, operatorVersion: operator.version }).all
  const at = (name: string) => ({ namespace, name, labels })
  const byIp = hosts.filter(({ host }) => isIP(host) !== 0)
  const byName = hosts.filter(({ host }) => isIP(host) === 0)
  const routes = routesTo(byName)
  return [
    ...(byIp.length > 0 ? [desired(ServiceEntries, { metadata: at(ips), spec: addressesOf(byIp) })] : []),
    ...(byName.length > 0 ? [desired(ServiceEntries, { metadata: at(names), spec: namesOf(byName) })] : []),
    ...(routes === undefined ? [] : [desired(VirtualServices, { metadata: at(names), spec: routes })]),
  ]
}

/** A ServiceEntry needs a host; for addresses it is never resolved. Location and resolution are Istio's defaults. */
function addressesOf(hosts: readonly MeshHost[]): ServiceEntrySpec {
  return {
    hosts: ['ignored.subdomain'],
    addresses: unique(hosts.map(({ host }) => `${host}/32`)),
    ports: portsOf(hosts.map((host) => ({ ...host, protocol: 'TCP' }))),
  }
}

function namesOf(hosts: readonly MeshHost[]): ServiceEntrySpec {
  return { hosts: hostNames(hosts), ports: portsOf(hosts), resolution: 'DNS' }
}

/** One port per number; the protocol is that of the first host that uses it. */
function portsOf(hosts: readonly MeshHost[]): ServiceEntrySpec['ports'] {
  const first = new Map([...hosts].reverse().map((host) => [host.port, host]))
  return [...new Set(hosts.map(({ port }) => port))].map((number) => {
    const protocol = first.get(number)?.protocol ?? ''
    return { name: `${protocol}-${number}`, number, protocol: protocol.toUpperCase() }
  })
}

/**
 * TLS is routed by the name in the handshake, everything else by its port. `undefined` without a route: Istio rejects a
 * VirtualService without routes.
 */
function routesTo(hosts: readonly MeshHost[]): VirtualServiceSpec | undefined {
  const of = (protocol: string) => hosts.filter((host) => host.protocol === protocol)
  const to = ({ host, port }: MeshHost) => [{ destination: { host, port: { number: port } } }]
  const tls = of('https').map((one) => ({ match: [{ sniHosts: [one.host], port: one.port }], route: to(one) }))
  const http = of('http').map((one) => ({ match: [{ port: one.port }], route: to(one) }))
  if (tls.length + http.length === 0) return undefined
  return { hosts: hostNames(hosts), ...(tls.length > 0 && { tls }), ...(http.length > 0 && { http }) }
}

/** Istio rejects a name that is listed twice, such as that of a host with two ports. */
const hostNames = (hosts: readonly MeshHost[]): readonly string[] => unique(hosts.map(({ host }) => host))

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
