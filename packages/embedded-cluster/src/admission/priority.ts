/** Resolves the priority of pods from their priority class. */

import type { AdmissionAttributes, AdmissionPlugin } from '../api/admission-plugin.ts'
import { forbidden } from '../api/api-errors.ts'
import type { ClusterApi } from '../api/cluster-api.ts'
import { type JsonObject, objectAt, stringAt } from '../json.ts'
import { requestedName } from './namespace-lifecycle.ts'

const PRIORITY_CLASSES = 'priorityclasses.scheduling.k8s.io'
const DEFAULT_POLICY = 'PreemptLowerPriority'

/** The plug-in Priority. */
export function createPriority(api: Pick<ClusterApi, 'get' | 'list'>): AdmissionPlugin {
  return {
    name: 'Priority',
    mutate: (attributes) => {
      const { resource, operation, subresource, object } = attributes
      const isPod = resource.group === '' && resource.plural === 'pods' && (subresource ?? '') === ''
      if (!isPod || object === undefined) return object
      if (operation === 'CREATE') return withPriority(api, attributes, object)
      return operation === 'UPDATE' ? keepPriority(object, attributes.oldObject) : object
    },
    validate: (attributes) => {
      const { resource, operation, subresource, object } = attributes
      const isClass = resource.group === 'scheduling.k8s.io' && resource.plural === 'priorityclasses'
      if (!isClass || (subresource ?? '') !== '' || object?.globalDefault !== true || operation === 'DELETE') return
      const other = api.list(PRIORITY_CLASSES).find((known) => known.globalDefault === true)
      const name = requestedName(attributes)
      if (other === undefined || nameOf(other) === name) return
      const why = `PriorityClass ${nameOf(other)} is already marked as default. Only one default can exist`
      throw forbidden(resource, name, why)
    },
  }
}

function withPriority(
  api: Pick<ClusterApi, 'get' | 'list'>,
  attributes: AdmissionAttributes,
  pod: JsonObject,
): JsonObject {
  const spec = objectAt(pod, 'spec')
  const denied = (why: string) => forbidden(attributes.resource, requestedName(attributes), why)
  const requested = stringAt(spec, 'priorityClassName') ?? ''
  const found = requested === '' ? defaultClass(api) : api.get(PRIORITY_CLASSES, undefined, requested)
  if (requested !== '' && found === undefined) throw denied(`no PriorityClass with name ${requested} was found`)
  const priority = typeof found?.value === 'number' ? found.value : 0
  const preemptionPolicy = stringAt(found, 'preemptionPolicy') ?? DEFAULT_POLICY
  const computed = (value: number | string) =>
    `must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`
  if (typeof spec.priority === 'number' && spec.priority !== priority) {
    throw denied(`the integer value of priority (${spec.priority}) ${computed(priority)}`)
  }
  if (typeof spec.preemptionPolicy === 'string' && spec.preemptionPolicy !== preemptionPolicy) {
    throw denied(`the string value of PreemptionPolicy (${spec.preemptionPolicy}) ${computed(preemptionPolicy)}`)
  }
  const priorityClassName = found === undefined ? '' : nameOf(found)
  return {
    ...pod,
    spec: { ...spec, ...(priorityClassName === '' ? {} : { priorityClassName }), priority, preemptionPolicy },
  }
}

/** A client that sends a pod without fields it does not know must not change the pod's priority. */
function keepPriority(pod: JsonObject, old: JsonObject | undefined): JsonObject {
  const spec = objectAt(pod, 'spec')
  const before = objectAt(old, 'spec')
  const kept: JsonObject = {}
  for (const field of ['priority', 'preemptionPolicy']) {
    if (spec[field] === undefined && before[field] !== undefined) kept[field] = before[field]
  }
  return Object.keys(kept).length === 0 ? pod : { ...pod, spec: { ...spec, ...kept } }
}

/** Only a race can create several defaults; then the lowest one is used. */
function defaultClass(api: Pick<ClusterApi, 'list'>): JsonObject | undefined {
  return api
    .list(PRIORITY_CLASSES)
    .filter((known) => known.globalDefault === true)
    .sort((a, b) => Number(a.value) - Number(b.value))[0]
}

function nameOf(object: JsonObject): string {
  return stringAt(objectAt(object, 'metadata'), 'name') ?? ''
}
