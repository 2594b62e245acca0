/** Sets default requests and limits of containers from the LimitRanges of a namespace, and enforces their bounds. */
import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { compareQuantities, formatQuantity, type Quantity, toNumber } from '../api/quantity.ts'
import { arrayAt, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { type Amounts, NONE, readAmounts } from '../quota/amounts.ts'
import { podResources } from '../quota/pod-usage.ts'
import { requestedName } from './namespace-lifecycle.ts'

const ANNOTATION = 'kubernetes.io/limit-ranger'

/** The plug-in LimitRanger. */
export function createLimitRanger(api: Pick<ClusterApi, 'list'>): AdmissionPlugin {
  const limitsFor = ({ namespace }: AdmissionAttributes) =>
    api
      .list('limitranges', { namespace: namespace ?? '' })
      .flatMap((range) => objectsAt(objectAt(range, 'spec'), 'limits'))
  return {
    name: 'LimitRanger',
    mutate: (attributes) => {
      const { operation, object } = attributes
      if (operation !== 'CREATE' || object === undefined || limitedKind(attributes) !== 'Pod') return object
      const limits = limitsFor(attributes)
      return limits.length === 0 ? object : withDefaults(object, limits)
    },
    validate: (attributes) => {
      const kind = limitedKind(attributes)
      const { object } = attributes
      if (kind === undefined || object === undefined) return
      const problems = limitsFor(attributes).flatMap((limit) => violations(kind, limit, object))
      if (problems.length === 0) return
      const why = problems.length === 1 ? problems.join('') : `[${[...new Set(problems)].join(', ')}]`
      throw forbidden(attributes.resource, requestedName(attributes), why)
    },
  }
}

/** Containers of a pod cannot change after its creation, except by `resize`. */
function limitedKind({ resource, operation, subresource }: AdmissionAttributes): 'Pod' | 'Claim' | undefined {
  if (resource.group !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined
  const isWhole = subresource === undefined || subresource === ''
  if (resource.plural === 'pods') {
    const isLimited = operation === 'CREATE' ? isWhole : subresource === 'resize'
    return isLimited ? 'Pod' : undefined
  }
  return resource.plural === 'persistentvolumeclaims' && isWhole ? 'Claim' : undefined
}

function withDefaults(pod: JsonObject, limits: readonly JsonObject[]): JsonObject {
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const requests = Object.assign({}, ...ofContainers.map((limit) => objectAt(limit, 'defaultRequest')))
  const bounds = Object.assign({}, ...ofContainers.map((limit) => objectAt(limit, 'default')))
  const spec = objectAt(pod, 'spec')
  const notes: string[] = []
  const complete = (field: 'containers' | 'initContainers', word: string) =>
    objectsAt(spec, field).map((container) => {
      const resources = objectAt(container, 'resources')
      const name = stringAt(container, 'name') ?? ''
      const fill = (list: 'requests' | 'limits', defaults: JsonObject, what: string) => {
        const set = objectAt(resources, list)
        const missing = Object.keys(defaults).filter((resource) => set[resource] === undefined)
        if (missing.length > 0) notes.push(`${missing.toSorted().join(', ')} ${what} for ${word} ${name}`)
        return { ...defaults, ...set }
      }
      const filled = { requests: fill('requests', requests, 'request'), limits: fill('limits', bounds, 'limit') }
      return { ...container, resources: { ...resources, ...filled } }
    })
  const containers = complete('containers', 'container')
  const initContainers = complete('initContainers', 'init container')
  if (notes.length === 0) return pod
  const metadata = objectAt(pod, 'metadata')
  const annotations = {
    ...objectAt(metadata, 'annotations'),
    [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}`,
  }
  return {
    ...pod,
    metadata: { ...metadata, annotations },
    spec: { ...spec, containers, ...(initContainers.length === 0 ? {} : { initContainers }) },
  }
}

function violations(kind: 'Pod' | 'Claim', limit: JsonObject, object: JsonObject): readonly string[] {
  const type = stringAt(limit, 'type') ?? ''
  const spec = objectAt(object, 'spec')
  if (kind === 'Claim') {
    if (type !== 'PersistentVolumeClaim') return []
    const requests = readAmounts(objectAt(objectAt(spec, 'resources'), 'requests'))
    return [...below(type, limit, requests, new Map()), ...requestAbove(type, limit, requests)]
  }
  if (type === 'Pod') return outside(type, limit, podResources(object, 'requests'), podResources(object, 'limits'))
  if (type !== 'Container') return []
  return [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')].flatMap((container) => {
    const resources = objectAt(container, 'resources')
    return outside(
      type,
      limit,
      readAmounts(objectAt(resources, 'requests')),
      readAmounts(objectAt(resources, 'limits')),
    )
  })
}

function outside(type: string, limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return [
    ...below(type, limit, requests, limits),
    ...above(type, limit, requests, limits),
    ...ratio(type, limit, requests, limits),
  ]
}

function below(type: string, limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return bounds(limit, 'min', (name, bound) => {
    const [request, highest] = [requests.get(name), limits.get(name)]
    const text = `minimum ${name} usage per ${type} is ${formatQuantity(bound)}`
    if (request === undefined) return `${text}.  No request is specified`
    if (compareQuantities(request, bound) < 0) return `${text}, but request is ${formatQuantity(request)}`
    const isLow = highest !== undefined && compareQuantities(highest, bound) < 0
    return isLow ? `${text}, but limit is ${formatQuantity(highest)}` : undefined
  })
}

function above(type: string, limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return bounds(limit, 'max', (name, bound) => {
    const [request, highest] = [requests.get(name), limits.get(name)]
    const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`
    if (highest === undefined) return `${text}.  No limit is specified`
    if (compareQuantities(highest, bound) > 0) return `${text}, but limit is ${formatQuantity(highest)}`
    const isHigh = request !== undefined && compareQuantities(request, bound) > 0
    return isHigh ? `${text}, but request is ${formatQuantity(request)}` : undefined
  })
}

/** Claims have requests only. */
function requestAbove(type: string, limit: JsonObject, requests: Amounts): readonly string[] {
  return bounds(limit, 'max', (name, bound) => {
    const request = requests.get(name)
    const text = `maximum ${name} usage per ${type} is ${formatQuantity(bound)}`
    if (request === undefined) return `${text}.  No request is specified`
    return compareQuantities(request, bound) > 0 ? `${text}, but request is ${formatQuantity(request)}` : undefined
  })
}

function ratio(type: string, limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return bounds(limit, 'maxLimitRequestRatio', (name, bound) => {
    const [request, highest] = [requests.get(name) ?? NONE, limits.get(name) ?? NONE]
    const text = `${name} max limit to request ratio per ${type} is ${formatQuantity(bound)}`
    if (request.unscaled === 0n) return `${text}, but no request is specified or request is 0`
    if (highest.unscaled === 0n) return `${text}, but no limit is specified or limit is 0`
    const actual = toNumber(highest) / toNumber(request)
    return actual > toNumber(bound) ? `${text}, but provided ratio is ${actual.toFixed(6)}` : undefined
  })
}

function bounds(
  limit: JsonObject,
  field: string,
  check: (name: string, bound: Quantity) => string | undefined,
): readonly string[] {
  return [...readAmounts(objectAt(limit, field))].flatMap(([name, bound]) => check(name, bound) ?? [])
}

function objectsAt(parent: JsonObject, field: string): readonly JsonObject[] {
  return arrayAt(parent, field).filter((entry) => isJsonObject(entry))
}
