/** Lets traffic to the tenant out of a mesh that lets nothing out by itself. */
import { isIP } from 'node:net'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { coreLabels } from '../../../rendering/labels.ts'
import type { Component } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import type { ObjectCondition } from '../../object-conditions.ts'
import type { RenderInput } from '../../render-input.ts'
import { activeGateTenantSecret, oneAgentTenantSecret } from '../connection/tenant-secrets.ts'
import { agentHosts, apiHosts, gatewayHosts, type MeshHost } from './mesh-hosts.ts'
import { ServiceEntries, type ServiceEntrySpec, type VirtualServiceSpec, VirtualServices } from './resources.ts'

/** Whose traffic it is; part of names and labels. */
type Sender = 'operator' | 'oneagent' | 'activegate'

/** A DynaKube asks for Istio in a cluster without it. */
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

/** Whether objects of Istio are asked for. */
export const hasIstio = ({ spec }: DynaKube): boolean => spec.enableIstio === true

/** The operator's own way to the API. It is opened before the first call. */
export const istioForApi = component('Istio for the API', 'operator', apiHosts)

/** The way of injected code modules, which may find one that others made. */
export const istioForCodeModules: Component = {
  ...component('Istio for code modules', 'oneagent', (dynakube) =>
    needsAppInjection(dynakube) ? agentHosts(dynakube) : [],
  ),
  needs: [oneAgentTenantSecret],
  isOptional: true,
  conditions: () => [applied(CONDITIONS.istioForCodeModules)],
}

/** The way of gateways. */
export const istioForActiveGate: Component = {
  ...component('Istio for ActiveGate', 'activegate', (dynakube) =>
    hasActiveGate(dynakube) ? gatewayHosts(dynakube) : [],
  ),
  needs: [activeGateTenantSecret],
  conditions: () => [applied(CONDITIONS.istioForActiveGate)],
}

const applied = (type: string): ObjectCondition => ({
  type,
  name: undefined,
  reason: `${type}Changed`,
  failureReason: `${type}Failed`,
  verb: 'applied',
})

function component(name: string, sender: Sender, hostsOf: (dynakube: DynaKube) => readonly MeshHost[]): Component {
  return {
    name,
    isEnabled: hasIstio,
    mayOwn(dynakube) {
      const { ips, names } = objectNames(dynakube, sender)
      return [
        { resource: ServiceEntries, name: ips },
        { resource: ServiceEntries, name: names },
        { resource: VirtualServices, name: names },
      ]
    },
    render: (input) => (hasIstio(input.dynakube) ? wayOut(input, sender, hostsOf(input.dynakube)) : []),
  }
}

const objectNames = ({ metadata }: DynaKube, sender: Sender) => ({
  ips: `${metadata.name}-ip-${sender}`,
  names: `${metadata.name}-fqdn-${sender}`,
})

function wayOut(
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

/** Addresses need some host, which nobody looks up. */
function addressesOf(hosts: readonly MeshHost[]): ServiceEntrySpec {
  return {
    hosts: ['ignored.subdomain'],
    addresses: unique(hosts.map(({ host }) => `${host}/32`)),
    ports: portsOf(hosts.map((host) => ({ ...host, protocol: 'TCP' }))),
    location: 'MESH_EXTERNAL',
    resolution: 'NONE',
  }
}

function namesOf(hosts: readonly MeshHost[]): ServiceEntrySpec {
  return { hosts: hostNames(hosts), ports: portsOf(hosts), location: 'MESH_EXTERNAL', resolution: 'DNS' }
}

/** One per number: the first host that uses it says which protocol is spoken there. */
function portsOf(hosts: readonly MeshHost[]): ServiceEntrySpec['ports'] {
  const first = new Map([...hosts].reverse().map((host) => [host.port, host]))
  return [...new Set(hosts.map(({ port }) => port))].map((number) => {
    const protocol = first.get(number)?.protocol ?? ''
    return { name: `${protocol}-${number}`, number, protocol: protocol.toUpperCase() }
  })
}

/**
 * What is encrypted is routed by the name in the handshake, everything else by its port. Nothing when there is nothing
 * to route: Istio refuses a VirtualService without any route.
 */
function routesTo(hosts: readonly MeshHost[]): VirtualServiceSpec | undefined {
  const of = (protocol: string) => hosts.filter((host) => host.protocol === protocol)
  const to = ({ host, port }: MeshHost) => [{ destination: { host, port: { number: port } } }]
  const tls = of('https').map((one) => ({ match: [{ sniHosts: [one.host], port: one.port }], route: to(one) }))
  const http = of('http').map((one) => ({ match: [{ port: one.port }], route: to(one) }))
  if (tls.length + http.length === 0) return undefined
  return { hosts: hostNames(hosts), ...(tls.length > 0 && { tls }), ...(http.length > 0 && { http }) }
}

/** Istio refuses a name that is given twice, as that of a host with two ports would be. */
const hostNames = (hosts: readonly MeshHost[]): readonly string[] => unique(hosts.map(({ host }) => host))

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)]
