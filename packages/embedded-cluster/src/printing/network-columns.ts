/** Columns of Services, endpoints, Ingresses and NetworkPolicies. */
import { isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import {
  ageColumn,
  type Column,
  column,
  labelsCell,
  nameColumn,
  objectsAt,
  selectorCell,
  shortened,
  textCell,
  valueAt,
  wide,
} from './column.ts'

function balancerAddresses(object: JsonObject): string[] {
  return objectsAt(object, 'status.loadBalancer.ingress').flatMap(
    (entry) => stringAt(entry, 'ip') ?? stringAt(entry, 'hostname') ?? [],
  )
}

function externalAddress(service: JsonObject): string {
  const spec = objectAt(service, 'spec')
  const fixed = Array.isArray(spec.externalIPs) ? spec.externalIPs.map(String) : []
  if (spec.type === 'ExternalName') return stringAt(spec, 'externalName') ?? '<none>'
  if (spec.type === 'LoadBalancer') {
    const addresses = [...balancerAddresses(service), ...fixed]
    return addresses.length === 0 ? '<pending>' : addresses.join(',')
  }
  return fixed.length === 0 ? '<none>' : fixed.join(',')
}

function servicePorts(service: JsonObject): string {
  const ports = objectsAt(service, 'spec.ports').map((port) => {
    const node = typeof port.nodePort === 'number' && port.nodePort > 0 ? `:${port.nodePort}` : ''
    return `${String(port.port)}${node}/${stringAt(port, 'protocol') ?? 'TCP'}`
  })
  return ports.length === 0 ? '<none>' : ports.join(',')
}

/** Columns of Services. */
export const serviceColumns: readonly Column[] = [
  nameColumn,
  column('Type', textCell('spec.type')),
  column('Cluster-IP', (object) => {
    const list = valueAt(object, 'spec.clusterIPs')
    const address = Array.isArray(list) && list.length > 0 ? list[0] : valueAt(object, 'spec.clusterIP')
    return typeof address === 'string' && address !== '' ? address : '<none>'
  }),
  column('External-IP', externalAddress),
  column('Port(s)', servicePorts),
  ageColumn,
  wide('Selector', labelsCell('spec.selector')),
]

function endpointAddresses(endpoints: JsonObject): string {
  const entries: string[] = []
  for (const subset of objectsAt(endpoints, 'subsets')) {
    const ports = objectsAt(subset, 'ports')
    for (const address of objectsAt(subset, 'addresses')) {
      if (ports.length === 0) entries.push(String(address.ip))
      for (const port of ports) entries.push(`${String(address.ip)}:${String(port.port)}`)
    }
  }
  return shortened(entries)
}

/** Columns of Endpoints. */
export const endpointsColumns: readonly Column[] = [nameColumn, column('Endpoints', endpointAddresses), ageColumn]

/** Columns of EndpointSlices. */
export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  column('AddressType', textCell('addressType')),
  column('Ports', (object) => {
    const ports = objectsAt(object, 'ports')
    if (ports.length === 0) return '<unset>'
    return shortened(ports.map((port) => (typeof port.port === 'number' ? String(port.port) : '*')))
  }),
  column('Endpoints', (object) => {
    const addresses = objectsAt(object, 'endpoints').flatMap((endpoint) =>
      Array.isArray(endpoint.addresses) ? endpoint.addresses.map(String) : [],
    )
    return addresses.length === 0 ? '<unset>' : shortened(addresses)
  }),
  ageColumn,
]

/** Columns of Ingresses. */
export const ingressColumns: readonly Column[] = [
  nameColumn,
  column('Class', textCell('spec.ingressClassName', '<none>')),
  column('Hosts', (object) => {
    const hosts = objectsAt(object, 'spec.rules').flatMap((rule) => stringAt(rule, 'host') ?? [])
    return hosts.length === 0 ? '*' : shortened(hosts)
  }),
  column('Address', (object) => balancerAddresses(object).join(',')),
  column('Ports', (object) => (objectsAt(object, 'spec.tls').length > 0 ? '80, 443' : '80')),
  ageColumn,
]

/** Columns of IngressClasses. */
export const ingressClassColumns: readonly Column[] = [
  nameColumn,
  column('Controller', textCell('spec.controller')),
  column('Parameters', (object) => {
    const parameters = valueAt(object, 'spec.parameters')
    if (!isJsonObject(parameters)) return '<none>'
    const group = stringAt(parameters, 'apiGroup')
    return `${String(parameters.kind)}${group === undefined ? '' : `.${group}`}/${String(parameters.name)}`
  }),
  ageColumn,
]

/** Columns of NetworkPolicies. */
export const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  column('Pod-Selector', selectorCell('spec.podSelector')),
  ageColumn,
]
