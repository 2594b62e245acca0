/** The status of services, ingresses, claims, nodes, namespaces and quotas. */
import { isIP } from 'node:net'
import { parseQuantity } from '../../api/quantity.ts'
import { type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { addressProblems, NOT_NEGATIVE, nameProblems } from './formats.ts'
import { entriesOf, Problems, textAt } from './problems.ts'
import { validateQuotaAmounts } from './quotas.ts'
import { quantityAt } from './resources.ts'

/** Validates a Service's status. */
export function validateServiceStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const balancer = objectAt(objectAt(object, 'status'), 'loadBalancer')
  const ingress = [...entriesOf(balancer, 'ingress', 'status.loadBalancer.ingress')]
  if (ingress.length > 0 && objectAt(object, 'spec').type !== 'LoadBalancer') {
    problems.forbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")
    return problems.errors
  }
  for (const [point, at] of ingress) {
    validateEntryPoint(problems, point, at)
    if (textAt(point, 'ip') !== '' && point.ipMode !== undefined) {
      problems.oneOf(`${at}.ipMode`, point.ipMode, ['Proxy', 'VIP'])
    }
  }
  return problems.errors
}

/** Validates an Ingress's status. */
export function validateIngressStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const balancer = objectAt(objectAt(object, 'status'), 'loadBalancer')
  for (const [point, at] of entriesOf(balancer, 'ingress', 'status.loadBalancer.ingress')) {
    validateEntryPoint(problems, point, at)
  }
  return problems.errors
}

function validateEntryPoint(problems: Problems, point: JsonObject, at: string): void {
  const ip = textAt(point, 'ip')
  if (ip !== '') problems.invalidAll(`${at}.ip`, ip, addressProblems(ip))
  const hostname = textAt(point, 'hostname')
  if (hostname === '') return
  problems.invalidAll(`${at}.hostname`, hostname, nameProblems(hostname))
  if (isIP(hostname) !== 0) problems.invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')
}

/** Validates a PersistentVolumeClaim's status. */
export function validateClaimStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  for (const [name, value] of Object.entries(objectAt(objectAt(object, 'status'), 'capacity'))) {
    if (typeof value !== 'string' || parseQuantity(value).unscaled >= 0n) continue
    problems.invalid(`status.capacity[${name}]`, Number(value), 'must be a valid resource quantity')
  }
  return problems.errors
}

/** Validates a Node's status. */
export function validateNodeStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const status = objectAt(object, 'status')
  for (const list of ['capacity', 'allocatable']) {
    const amounts = objectAt(status, list)
    for (const name of Object.keys(amounts)) {
      const amount = quantityAt(amounts, name)
      if (amount !== undefined && amount.unscaled < 0n) {
        problems.invalid(`status.${list}.${name}`, amounts[name], NOT_NEGATIVE)
      }
    }
  }
  const seen = new Set<string>()
  for (const [address, at] of entriesOf(status, 'addresses', 'status.addresses')) {
    const shown = { Type: textAt(address, 'type'), Address: textAt(address, 'address') }
    const identity = JSON.stringify(shown)
    if (seen.has(identity)) problems.duplicateStruct(at, shown)
    seen.add(identity)
  }
  return problems.errors
}

/** Validates a Namespace's status. */
export function validateNamespaceStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const isEnding = objectAt(object, 'metadata').deletionTimestamp !== undefined
  const phase = textAt(objectAt(object, 'status'), 'phase')
  // The messages use the Go name of this field.
  if (isEnding && phase !== 'Terminating') {
    problems.invalid('status.Phase', phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
  }
  if (!isEnding && phase !== 'Active') {
    problems.invalid('status.Phase', phase, "may only be 'Active' if `deletionTimestamp` is empty")
  }
  return problems.errors
}

/** Validates a ResourceQuota's status. */
export function validateResourceQuotaStatus(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const status = objectAt(object, 'status')
  for (const field of ['hard', 'used']) validateQuotaAmounts(problems, objectAt(status, field), `status.${field}`)
  return problems.errors
}
