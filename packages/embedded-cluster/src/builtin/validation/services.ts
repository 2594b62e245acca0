/** Services. */
import { arrayAt, type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import {
  addressProblems,
  endpointAddressProblems,
  isPort,
  nameProblems,
  PORT_RANGE,
  portOrName,
  qualifiedNameProblems,
  rangeProblems,
} from './formats.ts'
import { validateLabels } from './label-selectors.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'

const MAX_AFFINITY_SECONDS = 86_400
const onlyForLoadBalancers = "may only be used when `type` is 'LoadBalancer'"
const policies = ['Cluster', 'Local']

/** Whether a Service of this type has a cluster IP. */
export function hasAddress(spec: JsonObject): boolean {
  return spec.type !== 'ExternalName' && spec.clusterIP !== 'None'
}

/** Whether its ports are open on the nodes. */
export function hasNodePorts(spec: JsonObject): boolean {
  if (spec.type === 'NodePort') return true
  return spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false
}

/** Validates a Service, except for the availability of addresses and ports. */
export function validateService(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const isHeadless = spec.clusterIP === 'None'
  const hasPorts = arrayAt(spec, 'ports').length > 0
  if (!hasPorts && !isHeadless && spec.type !== 'ExternalName') problems.required('spec.ports')
  problems.oneOf('spec.type', spec.type, ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'])
  if (spec.type === 'LoadBalancer' && isHeadless) {
    problems.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for LoadBalancer services")
  }
  if (spec.type === 'NodePort' && isHeadless) {
    problems.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services")
  }
  if (spec.type === 'ExternalName') validateExternalName(problems, spec)
  else validateAddresses(problems, spec)
  validatePorts(problems, spec)
  validateLabels(problems, spec.selector, 'spec.selector')
  validateAffinity(problems, spec)
  validateTraffic(problems, spec)
  validateLoadBalancer(problems, spec)
  for (const [index, address] of textsAt(spec, 'externalIPs').entries()) {
    const at = `spec.externalIPs[${index}]`
    const why = addressProblems(address)
    problems.invalidAll(at, address, why.length > 0 ? why : endpointAddressProblems(address))
  }
  if (old !== undefined) validateUpdate(problems, spec, objectAt(old, 'spec'))
  return problems.errors
}

function validateExternalName(problems: Problems, spec: JsonObject): void {
  for (const field of ['clusterIPs', 'ipFamilies']) {
    if (arrayAt(spec, field).length > 0 || (field === 'clusterIPs' && textAt(spec, 'clusterIP') !== '')) {
      problems.forbidden(`spec.${field}`, 'may not be set for ExternalName services')
    }
  }
  if (spec.ipFamilyPolicy !== undefined) {
    problems.forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services')
  }
  const name = textAt(spec, 'externalName').replace(/\.$/, '')
  if (name === '') problems.required('spec.externalName')
  else problems.invalidAll('spec.externalName', name, nameProblems(name))
}

function validateAddresses(problems: Problems, spec: JsonObject): void {
  const addresses = textsAt(spec, 'clusterIPs')
  const primary = textAt(spec, 'clusterIP')
  if (primary !== '' && addresses[0] !== primary) {
    problems.invalid('spec.clusterIPs', addresses, 'first value must match `clusterIP`')
  }
  for (const [index, address] of addresses.entries()) {
    const isNone = index === 0 && address === 'None'
    if (address === '' || isNone) continue
    problems.invalidAll(`spec.clusterIPs[${index}]`, address, addressProblems(address))
  }
  const seen = new Set<string>()
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    problems.oneOf(`spec.ipFamilies[${index}]`, family, ['IPv4', 'IPv6'])
    if (seen.has(family)) problems.duplicate(`spec.ipFamilies[${index}]`, family)
    seen.add(family)
  }
  if (spec.ipFamilyPolicy !== undefined) {
    problems.oneOf('spec.ipFamilyPolicy', spec.ipFamilyPolicy, ['PreferDualStack', 'RequireDualStack', 'SingleStack'])
  }
}

/** Validates that the cluster, which has IPv4 only, supports the requested families. */
export function validateFamilies(problems: Problems, spec: JsonObject): void {
  // The families of a headless Service without selector are managed elsewhere.
  if (spec.clusterIP === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0) return
  for (const [index, family] of textsAt(spec, 'ipFamilies').entries()) {
    if (family === 'IPv6') problems.invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    const why = 'this cluster is not configured for dual-stack services'
    problems.invalid('spec.ipFamilyPolicy', 'RequireDualStack', why)
  }
}

function validatePorts(problems: Problems, spec: JsonObject): void {
  const needsNames = arrayAt(spec, 'ports').length > 1
  const names = new Set<string>()
  const numbers = new Set<string>()
  for (const [port, at] of entriesOf(spec, 'ports', 'spec.ports')) {
    const name = textAt(port, 'name')
    if (name === '' && needsNames) problems.required(`${at}.name`)
    else if (name !== '') {
      problems.invalidAll(`${at}.name`, name, nameProblems(name, 'label'))
      if (names.has(name)) problems.duplicate(`${at}.name`, name)
      names.add(name)
    }
    if (!isPort(port.port)) problems.invalid(`${at}.port`, port.port ?? 0, PORT_RANGE)
    problems.oneOf(`${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP'])
    portOrName(problems, `${at}.targetPort`, port.targetPort)
    const protocol = textAt(port, 'appProtocol')
    if (protocol !== '') problems.invalidAll(`${at}.appProtocol`, protocol, qualifiedNameProblems(protocol))
    const key = `${port.protocol}/${port.port}`
    if (numbers.has(key)) problems.errors.push(duplicatePort(at, port))
    numbers.add(key)
    const isOnNodes = spec.type === 'NodePort' || spec.type === 'LoadBalancer'
    if (!isOnNodes && (port.nodePort ?? 0) !== 0) {
      problems.forbidden(`${at}.nodePort`, `may not be used when \`type\` is '${spec.type}'`)
    }
  }
}

/** The messages print part of the port, in the format of Go. */
function duplicatePort(field: string, port: JsonObject): FieldError {
  const shown = { Name: '', Protocol: port.protocol, AppProtocol: null, Port: port.port, TargetPort: 0, NodePort: 0 }
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(shown)}` }
}

function validateAffinity(problems: Problems, spec: JsonObject): void {
  problems.oneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None'])
  const seconds = objectAt(objectAt(spec, 'sessionAffinityConfig'), 'clientIP').timeoutSeconds
  if (spec.sessionAffinity !== 'ClientIP' || typeof seconds !== 'number') return
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return
  const at = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds'
  problems.invalid(at, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)
}

function validateTraffic(problems: Problems, spec: JsonObject): void {
  const { externalTrafficPolicy, internalTrafficPolicy, type } = spec
  const hasExternalAddress = type === 'ClusterIP' && arrayAt(spec, 'externalIPs').length > 0
  const isExternal = type === 'NodePort' || type === 'LoadBalancer' || hasExternalAddress
  if (isExternal) problems.oneOf('spec.externalTrafficPolicy', externalTrafficPolicy, policies)
  else if (externalTrafficPolicy !== undefined) {
    const why = 'may only be set for externally-accessible services'
    problems.invalid('spec.externalTrafficPolicy', externalTrafficPolicy, why)
  }
  if (internalTrafficPolicy !== undefined) {
    problems.oneOf('spec.internalTrafficPolicy', internalTrafficPolicy, policies)
  }
  if (spec.trafficDistribution !== undefined) {
    const known = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
    problems.oneOf('spec.trafficDistribution', spec.trafficDistribution, known)
  }
}

function validateLoadBalancer(problems: Problems, spec: JsonObject): void {
  const isBalanced = spec.type === 'LoadBalancer'
  const ranges = textsAt(spec, 'loadBalancerSourceRanges')
  // The messages print this field with a capital letter.
  const at = 'spec.LoadBalancerSourceRanges'
  if (!isBalanced && ranges.length > 0) problems.forbidden(at, onlyForLoadBalancers)
  for (const [index, range] of isBalanced ? ranges.entries() : []) {
    problems.invalidAll(`${at}[${index}]`, range, rangeProblems(range.trim()))
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalanced) {
    problems.forbidden('spec.allocateLoadBalancerNodePorts', onlyForLoadBalancers)
  }
  const name = spec.loadBalancerClass
  if (typeof name !== 'string') return
  if (isBalanced) problems.invalidAll('spec.loadBalancerClass', name, qualifiedNameProblems(name))
  else problems.forbidden('spec.loadBalancerClass', onlyForLoadBalancers)
}

function validateUpdate(problems: Problems, spec: JsonObject, before: JsonObject): void {
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return
  const [now, old] = [textsAt(spec, 'clusterIPs'), textsAt(before, 'clusterIPs')]
  const isStillHeadless = spec.clusterIP === 'None' && before.clusterIP === 'None'
  for (const [index, address] of isStillHeadless ? [] : old.entries()) {
    if (now[index] === address) continue
    problems.invalid(`spec.clusterIPs[${index}]`, now, 'may not change once set')
  }
  const isBalanced = spec.type === 'LoadBalancer' && before.type === 'LoadBalancer'
  if (isBalanced && !jsonEqual(spec.loadBalancerClass, before.loadBalancerClass)) {
    problems.invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set')
  }
}
