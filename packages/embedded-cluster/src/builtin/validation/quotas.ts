/** LimitRanges and ResourceQuotas. */

import { compareQuantities } from '../../api/quantity.ts'
import { type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { qualifiedNameProblems } from './formats.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'
import { isHugePages, quantityAt, validateAmount, validateResourceName } from './resources.ts'

const computeNames = ['cpu', 'memory', 'ephemeral-storage']
const quotaResources = new Set([
  ...computeNames,
  ...['requests', 'limits'].flatMap((kind) => computeNames.map((name) => `${kind}.${name}`)),
  ...['requests.storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps'],
  ...['persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
])
const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]

/** Validates a ResourceQuota. */
export function validateResourceQuota(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  validateQuotaAmounts(problems, objectAt(spec, 'hard'), 'spec.hard')
  const named = textsAt(spec, 'scopes')
  if (named.some((scope) => !scopes.includes(scope))) problems.invalid('spec.scopes', [...named], 'unsupported scope')
  return problems.errors
}

/** Validates amounts by resource, in the spec or status of a quota. */
export function validateQuotaAmounts(problems: Problems, amounts: JsonObject, path: string): void {
  for (const [name, value] of Object.entries(amounts)) {
    const at = `${path}[${name}]`
    validateResourceName(problems, name, at)
    const isQuota = quotaResources.has(name) || isHugePages(name.replace(/^requests\./, ''))
    if (!name.includes('/') && !isQuota) problems.invalid(at, name, 'must be a standard resource for quota')
    validateAmount(problems, name, value, at)
  }
}

/** Validates a LimitRange. */
export function validateLimitRange(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const types = new Set<string>()
  for (const [item, at] of entriesOf(objectAt(object, 'spec'), 'limits', 'spec.limits')) {
    const type = textAt(item, 'type')
    problems.invalidAll(`${at}.type`, type, qualifiedNameProblems(type))
    if (types.has(type)) problems.duplicate(`${at}.type`, type)
    types.add(type)
    if (type === 'Pod') refuseDefaults(problems, item, at)
    const lists = type === 'Pod' ? ['max', 'min'] : ['max', 'min', 'default', 'defaultRequest']
    const names = new Set(lists.flatMap((list) => Object.keys(objectAt(item, list))))
    for (const name of names) validateOrder(problems, item, name, at, type === 'Pod')
  }
  return problems.errors
}

function refuseDefaults(problems: Problems, item: JsonObject, path: string): void {
  for (const field of ['default', 'defaultRequest']) {
    if (Object.keys(objectAt(item, field)).length === 0) continue
    problems.forbidden(`${path}.${field}`, "may not be specified when `type` is 'Pod'")
  }
}

/** Pairs of limits that must be ordered, with the field and value in the message and the words for both. */
function validateOrder(problems: Problems, item: JsonObject, name: string, path: string, isPod: boolean): void {
  const quantity = (field: string) =>
    isPod && field.startsWith('default') ? undefined : quantityAt(objectAt(item, field), name)
  const shown = (field: string) => String(objectAt(item, field)[name])
  const words = { min: 'min', max: 'max', default: 'default', defaultRequest: 'default request' }
  const rules: readonly (readonly [
    low: keyof typeof words,
    high: keyof typeof words,
    at: string,
    value: string,
    word?: string,
  ])[] = [
    ['min', 'max', 'min', 'min'],
    ['min', 'defaultRequest', 'defaultRequest', 'defaultRequest'],
    ['defaultRequest', 'max', 'defaultRequest', 'defaultRequest'],
    ['defaultRequest', 'default', 'defaultRequest', 'defaultRequest', 'default limit'],
    ['min', 'default', 'default', 'min'],
    ['default', 'max', 'default', 'max'],
  ]
  for (const [low, high, at, value, word = words[high]] of rules) {
    const [lower, upper] = [quantity(low), quantity(high)]
    if (lower === undefined || upper === undefined || compareQuantities(lower, upper) <= 0) continue
    const detail = `${words[low]} value ${shown(low)} is greater than ${word} value ${shown(high)}`
    problems.invalid(`${path}.${at}[${name}]`, shown(value), detail)
  }
}
