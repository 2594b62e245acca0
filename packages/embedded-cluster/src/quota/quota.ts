/** One ResourceQuota: which objects it counts, and how much they use. */
import type { ClusterApi } from '../api/cluster-api.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { type Amounts, add, NONE, pick, readAmounts } from './amounts.ts'
import { countedResource, usageOf } from './object-usage.ts'
import { isBestEffort } from './pod-usage.ts'

interface ScopeRequirement {
  readonly scope: string
  readonly operator: string
  readonly values: readonly string[]
}

/** Reads a quota once, for many objects. */
export class Quota {
  readonly name: string
  readonly namespace: string
  readonly hard: Amounts
  readonly #scopes: readonly ScopeRequirement[]

  constructor(object: JsonObject) {
    const metadata = objectAt(object, 'metadata')
    const spec = objectAt(object, 'spec')
    this.name = stringAt(metadata, 'name') ?? ''
    this.namespace = stringAt(metadata, 'namespace') ?? ''
    this.hard = readAmounts(objectAt(spec, 'hard'))
    this.#scopes = readScopes(spec)
  }

  /** The names of its limits that objects of this resource count for. */
  namesFor(resource: string): readonly string[] {
    return [...this.hard.keys()].filter((name) => countedResource(name) === resource)
  }

  /** Whether it limits objects of this resource, and this one is in its scopes. */
  covers(resource: string, object: JsonObject): boolean {
    return this.namesFor(resource).length > 0 && this.#scopes.every((scope) => isInScope(scope, resource, object))
  }

  /** What the object uses of this quota. */
  usageOf(resource: string, object: JsonObject, nowMs: number): Amounts {
    if (!this.covers(resource, object)) return new Map()
    return pick(usageOf(resource, object, nowMs), this.namesFor(resource))
  }

  /** What the stored objects of the namespace use, for every limit. */
  totalUsage(api: Pick<ClusterApi, 'list'>, nowMs: number): Amounts {
    let total: Amounts = new Map([...this.hard.keys()].map((name) => [name, NONE]))
    for (const resource of new Set([...this.hard.keys()].map(countedResource))) {
      for (const object of api.list(resource, { namespace: this.namespace })) {
        total = add(total, this.usageOf(resource, object, nowMs))
      }
    }
    return total
  }
}

function readScopes(spec: JsonObject): readonly ScopeRequirement[] {
  const plain = arrayAt(spec, 'scopes').map((scope) => ({ scope: String(scope), operator: 'Exists', values: [] }))
  const selected = arrayAt(objectAt(spec, 'scopeSelector'), 'matchExpressions').filter((entry) => isJsonObject(entry))
  return [
    ...plain,
    ...selected.map((entry) => ({
      scope: stringAt(entry, 'scopeName') ?? '',
      operator: stringAt(entry, 'operator') ?? '',
      values: arrayAt(entry, 'values').map(String),
    })),
  ]
}

function isInScope({ scope, operator, values }: ScopeRequirement, resource: string, object: JsonObject): boolean {
  const spec = objectAt(object, 'spec')
  if (scope === 'VolumeAttributesClass') {
    const attributes = stringAt(spec, 'volumeAttributesClassName') ?? ''
    return resource === 'persistentvolumeclaims' && matches(operator, values, attributes)
  }
  if (resource !== 'pods') return false
  const isTerminating = typeof spec.activeDeadlineSeconds === 'number' && spec.activeDeadlineSeconds >= 0
  switch (scope) {
    case 'Terminating':
      return isTerminating
    case 'NotTerminating':
      return !isTerminating
    case 'BestEffort':
      return isBestEffort(object)
    case 'NotBestEffort':
      return !isBestEffort(object)
    case 'PriorityClass':
      return matches(operator, values, stringAt(spec, 'priorityClassName') ?? '')
    case 'CrossNamespacePodAffinity':
      return hasCrossNamespaceAffinity(spec)
    default:
      return false
  }
}

function matches(operator: string, values: readonly string[], value: string): boolean {
  switch (operator) {
    case 'In':
      return values.includes(value)
    case 'NotIn':
      return !values.includes(value)
    case 'DoesNotExist':
      return value === ''
    default:
      return value !== ''
  }
}

function hasCrossNamespaceAffinity(spec: JsonObject): boolean {
  const affinity = objectAt(spec, 'affinity')
  return ['podAffinity', 'podAntiAffinity'].some((kind) => {
    const rules = objectAt(affinity, kind)
    const required = arrayAt(rules, 'requiredDuringSchedulingIgnoredDuringExecution')
    const preferred = arrayAt(rules, 'preferredDuringSchedulingIgnoredDuringExecution')
    const terms = [
      ...required,
      ...preferred.map((term) => (isJsonObject(term) ? objectAt(term, 'podAffinityTerm') : {})),
    ]
    return terms.some(
      (term) => isJsonObject(term) && (arrayAt(term, 'namespaces').length > 0 || term.namespaceSelector !== undefined),
    )
  })
}
