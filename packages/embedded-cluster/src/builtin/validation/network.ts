/** Ingresses, their classes and network policies. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { arrayAt, isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { isPort, nameProblems, PORT_RANGE, portNameProblems, rangeProblems } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

const wildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix']

/** Validates an Ingress. */
export function validateIngress(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const rules = [...entriesOf(spec, 'rules', 'spec.rules')]
  if (rules.length === 0 && spec.defaultBackend === undefined) {
    problems.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')
  }
  if (isJsonObject(spec.defaultBackend)) validateBackend(problems, spec.defaultBackend, 'spec.defaultBackend')
  for (const [rule, at] of rules) {
    const host = textAt(rule, 'host')
    if (isIP(host) !== 0) problems.invalid(`${at}.host`, host, 'must be a DNS name, not an IP address')
    if (host !== '') problems.invalidAll(`${at}.host`, host, hostProblems(host))
    if (isJsonObject(rule.http)) validateHttp(problems, rule.http, `${at}.http.paths`)
  }
  for (const [tls, at] of entriesOf(spec, 'tls', 'spec.tls')) {
    for (const [index, host] of textsAt(tls, 'hosts').entries()) {
      problems.invalidAll(`${at}.hosts[${index}]`, host, hostProblems(host))
    }
    const secret = textAt(tls, 'secretName')
    if (secret !== '') problems.invalidAll(`${at}.secretName`, secret, nameProblems(secret))
  }
  const className = textAt(spec, 'ingressClassName')
  if (spec.ingressClassName !== undefined)
    problems.invalidAll('spec.ingressClassName', className, nameProblems(className))
  return problems.errors
}

function hostProblems(host: string): string[] {
  if (!host.includes('*')) return nameProblems(host)
  return host.startsWith('*.') && nameProblems(host.slice(2)).length === 0 ? [] : [wildcardText]
}

function validateHttp(problems: Problems, http: JsonObject, path: string): void {
  const paths = [...entriesOf(http, 'paths', path)]
  if (paths.length === 0) problems.required(path)
  for (const [entry, at] of paths) {
    if (typeof entry.pathType !== 'string') {
      problems.required(`${at}.pathType`, 'pathType must be specified')
      continue
    }
    problems.oneOf(`${at}.pathType`, entry.pathType, pathTypes)
    validatePath(problems, entry, `${at}.path`)
    validateBackend(problems, objectAt(entry, 'backend'), `${at}.backend`)
  }
}

function validatePath(problems: Problems, entry: JsonObject, at: string): void {
  const path = textAt(entry, 'path')
  const isStrict = entry.pathType === 'Exact' || entry.pathType === 'Prefix'
  const isKnown = isStrict || entry.pathType === 'ImplementationSpecific'
  if (isKnown && (isStrict || path !== '') && !path.startsWith('/')) {
    problems.invalid(at, path, 'must be an absolute path')
  }
  if (!isStrict) return
  for (const part of ['//', '/./', '/../', '%2f', '%2F']) {
    if (path.includes(part)) problems.invalid(at, path, `must not contain '${part}'`)
  }
  for (const end of ['/..', '/.']) if (path.endsWith(end)) problems.invalid(at, path, `cannot end with '${end}'`)
}

function validateBackend(problems: Problems, backend: JsonObject, path: string): void {
  const { service, resource } = backend
  if (isJsonObject(service) && isJsonObject(resource)) {
    problems.invalid(path, '', 'cannot set both resource and service backends')
  } else if (isJsonObject(resource)) {
    for (const field of ['kind', 'name'])
      if (textAt(resource, field) === '') problems.required(`${path}.resource.${field}`)
  } else if (isJsonObject(service)) {
    const name = textAt(service, 'name')
    if (name === '') problems.required(`${path}.service.name`)
    else problems.invalidAll(`${path}.service.name`, name, nameProblems(name, 'service'))
    const port = objectAt(service, 'port')
    const portName = textAt(port, 'name')
    const number = Number(port.number ?? 0)
    if (portName !== '' && number !== 0) problems.invalid(path, '', 'cannot set both port name & port number')
    else if (portName !== '') problems.invalidAll(`${path}.service.port.name`, portName, portNameProblems(portName))
    else if (number === 0) problems.required(path, 'port name or number is required')
    else if (!isPort(number)) problems.invalid(`${path}.service.port.number`, number, PORT_RANGE)
  } else problems.invalid(path, '', 'resource or service backend is required')
}

/** Validates an IngressClass. */
export function validateIngressClass(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const controller = textAt(spec, 'controller')
  const [domain = '', ...rest] = controller.split('/')
  const isPath = rest.length > 0 && rest.join('/') !== '' && nameProblems(domain).length === 0
  if (controller === '') problems.required('spec.controller')
  else if (!isPath) {
    problems.invalid('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
  }
  const { parameters } = spec
  if (!isJsonObject(parameters)) return problems.errors
  const at = 'spec.parameters'
  for (const field of ['kind', 'name']) if (textAt(parameters, field) === '') problems.required(`${at}.${field}`)
  problems.oneOf(`${at}.scope`, parameters.scope, ['Cluster', 'Namespace'])
  if (parameters.scope === 'Namespace' && parameters.namespace === undefined) {
    problems.required(`${at}.namespace`, "`parameters.scope` is set to 'Namespace'")
  }
  if (parameters.scope === 'Cluster' && parameters.namespace !== undefined) {
    problems.forbidden(`${at}.namespace`, "`parameters.scope` is set to 'Cluster'")
  }
  return problems.errors
}

/** Validates a NetworkPolicy. */
export function validateNetworkPolicy(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  validateSelector(problems, spec.podSelector, 'spec.podSelector')
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [rule, at] of entriesOf(spec, direction, `spec.${direction}`)) {
      for (const [port, portAt] of entriesOf(rule, 'ports', `${at}.ports`)) validatePolicyPort(problems, port, portAt)
      for (const [peer, peerAt] of entriesOf(rule, peers, `${at}.${peers}`)) validatePeer(problems, peer, peerAt)
    }
  }
  for (const [index, type] of arrayAt(spec, 'policyTypes').entries()) {
    problems.oneOf(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress'])
  }
  return problems.errors
}

function validatePolicyPort(problems: Problems, port: JsonObject, path: string): void {
  const { port: number, endPort } = port
  problems.oneOf(`${path}.protocol`, port.protocol, ['TCP', 'UDP', 'SCTP'])
  if (typeof number === 'number') {
    if (!isPort(number)) problems.invalid(`${path}.port`, number, PORT_RANGE)
    if (typeof endPort !== 'number') return
    if (endPort < number) problems.invalid(`${path}.endPort`, number, 'must be greater than or equal to `port`')
    if (!isPort(endPort)) problems.invalid(`${path}.endPort`, endPort, PORT_RANGE)
    return
  }
  if (typeof number === 'string') problems.invalidAll(`${path}.port`, number, portNameProblems(number))
  if (typeof endPort !== 'number') return
  const why = typeof number === 'string' ? 'non-numeric' : 'not specified'
  problems.invalid(`${path}.endPort`, endPort, `may not be specified when \`port\` is ${why}`)
}

function validatePeer(problems: Problems, peer: JsonObject, path: string): void {
  const count = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((field) => isJsonObject(peer[field])).length
  for (const field of ['podSelector', 'namespaceSelector']) validateSelector(problems, peer[field], `${path}.${field}`)
  if (isJsonObject(peer.ipBlock)) validateBlock(problems, peer.ipBlock, `${path}.ipBlock`)
  if (count === 0) problems.required(path, 'must specify a peer')
  else if (count > 1 && isJsonObject(peer.ipBlock)) {
    problems.forbidden(path, 'may not specify both ipBlock and another peer')
  }
}

function validateBlock(problems: Problems, block: JsonObject, path: string): void {
  const range = textAt(block, 'cidr')
  if (range === '') {
    problems.required(`${path}.cidr`)
    return
  }
  const why = rangeProblems(range)
  problems.invalidAll(`${path}.cidr`, range, why)
  if (why.length > 0) return
  for (const [index, except] of textsAt(block, 'except').entries()) {
    const at = `${path}.except[${index}]`
    const exceptWhy = rangeProblems(except)
    problems.invalidAll(at, except, exceptWhy)
    if (exceptWhy.length === 0 && !isStrictSubset(except, range)) {
      problems.invalid(at, except, 'must be a strict subset of `cidr`')
    }
  }
}

function isStrictSubset(inner: string, outer: string): boolean {
  const [innerAddress = '', innerBits = ''] = inner.split('/')
  const [outerAddress = '', outerBits = ''] = outer.split('/')
  const family = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')
  if (family(innerAddress) !== family(outerAddress) || Number(innerBits) <= Number(outerBits)) return false
  const list = new BlockList()
  list.addSubnet(outerAddress, Number(outerBits), family(outerAddress))
  return list.check(innerAddress, family(innerAddress))
}
