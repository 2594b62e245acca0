/** Services: defaults and the virtual addresses and node ports the server hands out. */
import { arrayAt, type JsonObject, objectAt, stringAt } from '../json.ts'
import { ensureObject, objectsIn, setDefault } from './draft-fields.ts'
import type { KindStrategy, StrategyContext } from './kind-strategy.ts'

const DEFAULT_AFFINITY_SECONDS = 10_800

/** The strategy of the kind Service. */
export const serviceStrategy: KindStrategy = {
  names: 'service',
  createOnUpdate: true,
  returnsDeletedObject: true,
  default: defaultService,
  prepareForCreate(object, context) {
    object.status = { loadBalancer: {} }
    allocate(object, context)
    // A dry run tells what would be handed out and keeps nothing.
    if (context.dryRun) release(object, context)
  },
  prepareForUpdate(object, old, context) {
    const spec = ensureObject(object, 'spec')
    const before = objectAt(old, 'spec')
    dropUnneeded(spec, before)
    keepAllocations(spec, before)
    release(old, context)
    allocate(object, context)
    if (!context.dryRun) return
    release(object, context)
    allocate(structuredClone(old), context)
  },
  release(object, context) {
    if (!context.dryRun) release(object, context)
  },
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

/** Whether a Service of this type has a virtual address of its own. */
export function hasAddress(spec: JsonObject): boolean {
  return spec.type !== 'ExternalName' && spec.clusterIP !== 'None'
}

/** Whether its ports are open on the nodes. */
export function hasNodePorts(spec: JsonObject): boolean {
  if (spec.type === 'NodePort') return true
  return spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false
}

function hasHealthCheckPort(spec: JsonObject): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

function allocate(object: JsonObject, { serviceAddresses }: StrategyContext): void {
  const spec = ensureObject(object, 'spec')
  if (spec.type === 'ExternalName') return
  if (spec.clusterIP === undefined && typeof arrayAt(spec, 'clusterIPs')[0] === 'string') {
    spec.clusterIP = arrayAt(spec, 'clusterIPs')[0]
  }
  if (hasAddress(spec)) {
    const chosen = stringAt(spec, 'clusterIP') ?? ''
    if (chosen === '') spec.clusterIP = serviceAddresses.allocateAddress() ?? ''
    else serviceAddresses.takeAddress(chosen)
  }
  spec.clusterIPs = [spec.clusterIP ?? '']
  defaultFamilies(spec)
  if (hasHealthCheckPort(spec)) {
    if (typeof spec.healthCheckNodePort === 'number') serviceAddresses.takePort(spec.healthCheckNodePort)
    else spec.healthCheckNodePort = serviceAddresses.allocatePort()
  }
  if (!hasNodePorts(spec)) return
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number' && port.nodePort > 0) serviceAddresses.takePort(port.nodePort)
    else port.nodePort = serviceAddresses.allocatePort()
  }
}

/** The cluster has IPv4 alone; only a Service without pods and address of its own is told that it may have both. */
function defaultFamilies(spec: JsonObject): void {
  const isBare = spec.clusterIP === 'None' && Object.keys(objectAt(spec, 'selector')).length === 0
  setDefault(spec, 'ipFamilyPolicy', isBare ? 'RequireDualStack' : 'SingleStack')
  spec.ipFamilies ??= isBare && spec.ipFamilyPolicy !== 'SingleStack' ? ['IPv4', 'IPv6'] : ['IPv4']
}

function release(object: JsonObject, { serviceAddresses }: StrategyContext): void {
  const spec = objectAt(object, 'spec')
  const address = stringAt(spec, 'clusterIP') ?? ''
  if (address !== '' && address !== 'None') serviceAddresses.releaseAddress(address)
  if (typeof spec.healthCheckNodePort === 'number') serviceAddresses.releasePort(spec.healthCheckNodePort)
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number') serviceAddresses.releasePort(port.nodePort)
  }
}

/** Fields that a change of type makes meaningless go, unless the client changed them itself. */
function dropUnneeded(spec: JsonObject, before: JsonObject): void {
  const isSame = (field: string) => JSON.stringify(spec[field]) === JSON.stringify(before[field])
  if (before.type !== 'ExternalName' && spec.type === 'ExternalName') {
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
      if (isSame(field)) delete spec[field]
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

/** What was handed out stays when the client leaves it out. */
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
