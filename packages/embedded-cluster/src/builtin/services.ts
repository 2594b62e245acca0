/** Services: defaults, and allocation of cluster IPs and node ports. */

import { invalid } from '../api/api-errors.ts'
import { ensureObject, objectsIn, setDefault } from '../draft-fields.ts'
import { arrayAt, type JsonObject, type JsonValue, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { KindStrategy, StrategyContext } from '../registry/kind-strategy.ts'
import type { ServiceAddresses } from '../registry/service-addresses.ts'
import { Problems } from './validation/problems.ts'
import { validateServiceStatus } from './validation/reported-status.ts'
import { hasAddress, hasNodePorts, validateFamilies, validateService } from './validation/services.ts'
import { serviceWarnings } from './warnings.ts'

const DEFAULT_AFFINITY_SECONDS = 10_800

/** The strategy of the kind Service. */
export const serviceStrategy: KindStrategy = {
  names: 'service',
  createOnUpdate: true,
  returnsDeletedObject: true,
  default: defaultService,
  prepareForCreate(object, context) {
    object.status = { loadBalancer: {} }
    const spec = ensureObject(object, 'spec')
    normaliseAddresses(spec)
    // A rejected Service allocates nothing.
    if (validateService(object, undefined).length > 0) return
    try {
      allocate(object, context)
    } catch (error) {
      context.serviceAddresses.releaseAll(uidOf(object))
      throw error
    }
  },
  prepareForUpdate(object, old, context) {
    const spec = ensureObject(object, 'spec')
    const before = objectAt(old, 'spec')
    dropUnneeded(spec, before)
    keepAllocations(spec, before)
    normaliseAddresses(spec, before)
    if (validateService(object, old).length > 0) return
    const owner = uidOf(old)
    try {
      allocate(object, context)
      // Until the new state is stored, the old state may remain.
      context.serviceAddresses.retain(owner, context.dryRun ? [old] : [old, object])
    } catch (error) {
      context.serviceAddresses.retain(owner, [old])
      throw error
    }
  },
  validate: validateService,
  validateStatus: validateServiceStatus,
  warnings: serviceWarnings,
  release(object, { serviceAddresses }) {
    serviceAddresses.releaseAll(uidOf(object))
  },
}

function uidOf(object: JsonObject): string {
  return String(objectAt(object, 'metadata').uid)
}

function defaultService(object: JsonObject): void {
  const spec = ensureObject(object, 'spec')
  setDefault(spec, 'sessionAffinity', 'None')
  setDefault(spec, 'type', 'ClusterIP')
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP') {
    const config = ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP')
    setDefault(config, 'timeoutSeconds', DEFAULT_AFFINITY_SECONDS)
  }
  for (const port of objectsIn(spec, 'ports')) {
    setDefault(port, 'protocol', 'TCP')
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port
  }
  const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer'
  const hasExternalAddress = spec.type === 'ClusterIP' && arrayAt(spec, 'externalIPs').length > 0
  if (isExternal || hasExternalAddress) setDefault(spec, 'externalTrafficPolicy', 'Cluster')
  if (isExternal || spec.type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type !== 'LoadBalancer') return
  spec.allocateLoadBalancerNodePorts ??= true
  const status = ensureObject(object, 'status')
  for (const ingress of objectsIn(objectAt(status, 'loadBalancer'), 'ingress')) {
    if (typeof ingress.ip === 'string') ingress.ipMode ??= 'VIP'
  }
}

function hasHealthCheckPort(spec: JsonObject): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

/** `clusterIP` and `clusterIPs[0]` are equal; the client may set either. */
function normaliseAddresses(spec: JsonObject, before: JsonObject = {}): void {
  if (spec.type === 'ExternalName') return
  const isChanged = spec.clusterIP !== before.clusterIP && jsonEqual(spec.clusterIPs, before.clusterIPs)
  if (isChanged) delete spec.clusterIPs
  const first = arrayAt(spec, 'clusterIPs')[0]
  if ((stringAt(spec, 'clusterIP') ?? '') !== '') spec.clusterIPs ??= [spec.clusterIP ?? '']
  else if (typeof first === 'string') spec.clusterIP = first
}

function allocate(object: JsonObject, { serviceAddresses }: StrategyContext): void {
  const spec = ensureObject(object, 'spec')
  const owner = uidOf(object)
  const problems = new Problems()
  if (spec.type === 'ExternalName') return
  if (hasAddress(spec)) {
    const chosen = stringAt(spec, 'clusterIP') ?? ''
    if (chosen === '') spec.clusterIP = serviceAddresses.allocateAddress(owner) ?? ''
    else {
      const why = serviceAddresses.takeAddress(chosen, owner)
      if (why !== undefined) problems.invalid('spec.clusterIPs', [chosen], `failed to allocate IP ${chosen}: ${why}`)
    }
  }
  spec.clusterIPs = [spec.clusterIP ?? '']
  defaultFamilies(spec)
  validateFamilies(problems, spec)
  if (hasHealthCheckPort(spec)) allocatePort(problems, spec, 'healthCheckNodePort', 'spec', serviceAddresses, owner)
  if (hasNodePorts(spec)) allocateNodePorts(problems, spec, serviceAddresses, owner)
  if (problems.errors.length > 0) throw invalid(serviceKind, String(objectAt(object, 'metadata').name), problems.errors)
}

const serviceKind = { group: '', kind: 'Service' }

function allocateNodePorts(problems: Problems, spec: JsonObject, addresses: ServiceAddresses, owner: string): void {
  const taken = new Set<JsonValue | undefined>()
  for (const [index, port] of objectsIn(spec, 'ports').entries()) {
    const field = `spec.ports[${index}]`
    if (port.nodePort !== undefined && taken.has(port.nodePort)) {
      problems.invalid(`${field}.nodePort`, port.nodePort, 'provided port is already allocated')
    } else allocatePort(problems, port, 'nodePort', field, addresses, owner)
    taken.add(port.nodePort)
  }
}

function allocatePort(
  problems: Problems,
  parent: JsonObject,
  field: string,
  path: string,
  addresses: ServiceAddresses,
  owner: string,
): void {
  const chosen = parent[field]
  if (typeof chosen !== 'number' || chosen === 0) {
    parent[field] = addresses.allocatePort(owner)
    return
  }
  const why = addresses.takePort(chosen, owner)
  if (why !== undefined) problems.invalid(`${path}.${field}`, chosen, why)
}

/** The cluster has IPv4 only; only a headless Service without selector reports both families. */
function defaultFamilies(spec: JsonObject): void {
  const isBare = spec.clusterIP === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0
  setDefault(spec, 'ipFamilyPolicy', isBare ? 'RequireDualStack' : 'SingleStack')
  spec.ipFamilies ??= isBare && spec.ipFamilyPolicy !== 'SingleStack' ? ['IPv4', 'IPv6'] : ['IPv4']
}

/** Removes fields that are meaningless after a change of type, unless the client changed them. */
function dropUnneeded(spec: JsonObject, before: JsonObject): void {
  const isSame = (field: string) => jsonEqual(spec[field], before[field])
  if (before.type !== 'ExternalName' && spec.type === 'ExternalName') {
    const fields = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']
    for (const field of fields) if (isSame(field)) delete spec[field]
  }
  if (hasNodePorts(before) && !hasNodePorts(spec)) {
    const old = new Set(objectsIn(before, 'ports').map((port) => port.nodePort))
    for (const port of objectsIn(spec, 'ports')) if (old.has(port.nodePort)) delete port.nodePort
  }
  if (hasHealthCheckPort(before) && !hasHealthCheckPort(spec) && isSame('healthCheckNodePort')) {
    delete spec.healthCheckNodePort
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass']) if (isSame(field)) delete spec[field]
  }
  if (spec.type === 'ClusterIP' && before.type !== 'ClusterIP' && isSame('externalTrafficPolicy')) {
    delete spec.externalTrafficPolicy
  }
}

/** Keeps allocations that the client omitted. */
function keepAllocations(spec: JsonObject, before: JsonObject): void {
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return
  const keep = (field: string) => {
    const value = before[field]
    if (spec[field] === undefined && value !== undefined) spec[field] = Array.isArray(value) ? [...value] : value
  }
  if (hasAddress(spec) && hasAddress(before) && (stringAt(spec, 'clusterIP') ?? '') === '') {
    delete spec.clusterIP
    delete spec.clusterIPs
  }
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) keep(field)
  if (hasHealthCheckPort(spec) && hasHealthCheckPort(before)) keep('healthCheckNodePort')
  if (!hasNodePorts(spec)) return
  const previous = objectsIn(before, 'ports')
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number' && port.nodePort > 0) continue
    const same = previous.find((other) => other.port === port.port && other.protocol === port.protocol)
    if (same?.nodePort !== undefined) port.nodePort = same.nodePort
  }
}
