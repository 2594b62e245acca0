/** Resource amounts: names and quantities in containers, quotas and limits. */

import { compareQuantities, isWholeNumber, parseQuantity, type Quantity } from '../../api/quantity.ts'
import { type JsonObject, type JsonValue, objectAt } from '../../json.ts'
import { NOT_NEGATIVE, qualifiedNameProblems } from './formats.ts'
import type { Problems } from './problems.ts'

const containerResources = ['cpu', 'memory', 'ephemeral-storage']
/** Known names without a domain. */
const standardResources = new Set([
  ...containerResources,
  ...['requests', 'limits'].flatMap((kind) => containerResources.map((name) => `${kind}.${name}`)),
  ...['storage', 'requests.storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets'],
  ...['configmaps', 'persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
])
/** Counts of objects, which are integers. */
const countedResources = new Set([
  ...['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
])

/** Whether a resource is a huge page size. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

function isNative(name: string): boolean {
  return !name.includes('/') || name.split('/')[0]?.endsWith('kubernetes.io') === true
}

/** Whether it is an extended resource, such as `example.com/gpu`. */
function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && qualifiedNameProblems(`requests.${name}`).length === 0
}

/** The quantity in `list` under `name`; undefined when there is none. */
export function quantityAt(list: JsonObject, name: string): Quantity | undefined {
  const value = list[name]
  return typeof value === 'string' ? parseQuantity(value) : undefined
}

/** Validates that a quantity is not negative, and an integer for counted resources. */
export function validateAmount(problems: Problems, name: string, value: JsonValue | undefined, path: string): void {
  if (typeof value !== 'string') return
  const quantity = parseQuantity(value)
  if (quantity.unscaled < 0n) problems.invalid(path, value, NOT_NEGATIVE)
  const isCounted = countedResources.has(name) || name.startsWith('count/') || isExtended(name)
  if (isCounted && !isWholeNumber(quantity)) problems.invalid(path, value, 'must be an integer')
}

/** Validates that a name without a domain is known. */
export function validateResourceName(problems: Problems, name: string, path: string): boolean {
  const why = qualifiedNameProblems(name)
  problems.invalidAll(path, name, why)
  if (why.length > 0) return false
  if (
    name.includes('/') ||
    standardResources.has(name) ||
    isHugePages(name) ||
    isHugePages(name.replace(/^requests\./, ''))
  ) {
    return true
  }
  problems.invalid(path, name, 'must be a standard resource type or fully qualified')
  return true
}

function validateContainerResource(problems: Problems, name: string, path: string): void {
  validateResourceName(problems, name, path)
  if (!name.includes('/')) {
    if (containerResources.includes(name) || isHugePages(name)) return
    problems.invalid(path, name, 'must be a standard resource for containers')
  } else if (!isNative(name) && !isExtended(name)) {
    problems.invalid(path, name, "doesn't follow extended resource name standard")
  }
}

/** Validates requests and limits of a container. */
export function validateRequirements(problems: Problems, requirements: JsonObject, path: string): void {
  const limits = objectAt(requirements, 'limits')
  const requests = objectAt(requirements, 'requests')
  for (const [field, list] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const [name, value] of Object.entries(list)) {
      const at = `${path}.${field}[${name}]`
      validateContainerResource(problems, name, at)
      validateAmount(problems, name, value, at)
    }
  }
  for (const name of Object.keys(requests)) validateRequest(problems, name, requests, limits, path)
  const names = new Set([...Object.keys(limits), ...Object.keys(requests)])
  if ([...names].some(isHugePages) && !names.has('cpu') && !names.has('memory')) {
    problems.forbidden(path, 'HugePages require cpu or memory')
  }
}

function validateRequest(
  problems: Problems,
  name: string,
  requests: JsonObject,
  limits: JsonObject,
  path: string,
): void {
  const request = quantityAt(requests, name)
  const limit = quantityAt(limits, name)
  if (request === undefined) return
  const isExact = isExtended(name) || isHugePages(name)
  if (limit === undefined) {
    if (isExact) problems.required(`${path}.limits`, 'Limit must be set for non overcommitable resources')
    return
  }
  const order = compareQuantities(request, limit)
  const shown = String(limits[name])
  if (isExact && order !== 0) {
    problems.invalid(`${path}.requests`, requests[name], `must be equal to ${name} limit of ${shown}`)
  } else if (order > 0) {
    problems.invalid(`${path}.requests`, requests[name], `must be less than or equal to ${name} limit of ${shown}`)
  }
}
