/** Services: defaults and the virtual addresses and node ports the server hands out. */
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { KindStrategy, StrategyContext } from './kind-strategy.ts'
import { ensureObject, objectsIn, setDefault } from './pod-defaults.ts'

function needsAddress(spec: JsonObject): boolean {
  return spec.type !== 'ExternalName' && spec.clusterIP !== 'None'
}

function needsNodePorts(spec: JsonObject): boolean {
  if (spec.type === 'NodePort') return true
  return spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false
}

function allocate(object: JsonObject, context: StrategyContext): void {
  const spec = ensureObject(object, 'spec')
  const { serviceAddresses } = context
  if (spec.type === 'ExternalName') return
  if (needsAddress(spec)) {
    if ((stringAt(spec, 'clusterIP') ?? '') === '') spec.clusterIP = serviceAddresses.allocateAddress() ?? ''
    else serviceAddresses.takeAddress(String(spec.clusterIP))
  }
  spec.clusterIPs = [spec.clusterIP ?? '']
  spec.ipFamilies ??= ['IPv4']
  setDefault(spec, 'ipFamilyPolicy', 'SingleStack')
  if (!needsNodePorts(spec)) return
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number' && port.nodePort > 0) serviceAddresses.takePort(port.nodePort)
    else port.nodePort = serviceAddresses.allocatePort()
  }
}

function release(object: JsonObject, context: StrategyContext): void {
  const spec = objectAt(object, 'spec')
  const address = stringAt(spec, 'clusterIP')
  if (address !== undefined && address !== '' && address !== 'None') context.serviceAddresses.releaseAddress(address)
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number') context.serviceAddresses.releasePort(port.nodePort)
  }
}

export const serviceStrategy: KindStrategy = {
  names: 'service',
  createOnUpdate: true,
  returnsDeletedObject: true,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'sessionAffinity', 'None')
    setDefault(spec, 'type', 'ClusterIP')
    if (spec.sessionAffinity === 'ClientIP') {
      setDefault(ensureObject(ensureObject(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds', 10_800)
    }
    for (const port of objectsIn(spec, 'ports')) {
      setDefault(port, 'protocol', 'TCP')
      if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port
    }
    if (spec.type === 'NodePort' || spec.type === 'LoadBalancer') setDefault(spec, 'externalTrafficPolicy', 'Cluster')
    if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
    if (spec.type !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster')
  },
  prepareForCreate(object, context) {
    object.status = { loadBalancer: {} }
    allocate(object, context)
    // A dry run tells what would be handed out and keeps nothing.
    if (context.dryRun) release(object, context)
  },
  prepareForUpdate(object, old, context) {
    const spec = ensureObject(object, 'spec')
    const before = objectAt(old, 'spec')
    const keepsAddress = needsAddress(spec) && needsAddress(before)
    if (keepsAddress && (stringAt(spec, 'clusterIP') ?? '') === '') {
      for (const field of ['clusterIP', 'clusterIPs']) {
        const value = before[field]
        if (value !== undefined) spec[field] = Array.isArray(value) ? [...value] : value
      }
    }
    for (const field of ['ipFamilies', 'ipFamilyPolicy']) {
      if (spec[field] === undefined && before[field] !== undefined && spec.type !== 'ExternalName') {
        const value = before[field]
        spec[field] = Array.isArray(value) ? [...value] : value
      }
    }
    keepNodePorts(spec, before)
    if (!context.dryRun) {
      release(old, context)
      allocate(object, context)
    }
  },
  validate: validateService,
  release(object, context) {
    if (!context.dryRun) release(object, context)
  },
}

/** A port keeps its node port when the client leaves it out, found by name or by number. */
function keepNodePorts(spec: JsonObject, before: JsonObject): void {
  if (!needsNodePorts(spec)) return
  const previous = objectsIn(before, 'ports')
  for (const port of objectsIn(spec, 'ports')) {
    if (typeof port.nodePort === 'number' && port.nodePort > 0) continue
    const same = previous.find((other) => other.port === port.port && other.protocol === port.protocol)
    if (same?.nodePort !== undefined) port.nodePort = same.nodePort
  }
}

function validateService(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const spec = objectAt(object, 'spec')
  const errors: FieldError[] = []
  const ports = arrayAt(spec, 'ports')
  if (ports.length === 0 && spec.clusterIP !== 'None' && spec.type !== 'ExternalName') {
    errors.push({ field: 'spec.ports', reason: 'FieldValueRequired', message: 'Required value' })
  }
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    if (!isJsonObject(port)) continue
    const field = `spec.ports[${index}]`
    const name = stringAt(port, 'name') ?? ''
    if (name === '' && ports.length > 1) {
      errors.push({ field: `${field}.name`, reason: 'FieldValueRequired', message: 'Required value' })
    } else if (name !== '' && names.has(name)) {
      const message = `Duplicate value: ${JSON.stringify(name)}`
      errors.push({ field: `${field}.name`, reason: 'FieldValueDuplicate', message })
    }
    names.add(name)
    const number = port.port
    if (typeof number !== 'number' || number < 1 || number > 65_535) {
      const message = `Invalid value: ${JSON.stringify(number ?? 0)}: must be between 1 and 65535, inclusive`
      errors.push({ field: `${field}.port`, reason: 'FieldValueInvalid', message })
    }
  }
  const before = objectAt(old, 'spec')
  const isChanged =
    old !== undefined && needsAddress(spec) && needsAddress(before) && spec.clusterIP !== before.clusterIP
  if (isChanged && before.clusterIP !== undefined) {
    const message = `Invalid value: ${JSON.stringify([spec.clusterIP])}: may not change once set`
    errors.push({ field: 'spec.clusterIPs[0]', reason: 'FieldValueInvalid', message })
  }
  return errors
}
