/** Conversions between the versions of built-in kinds that have more than one, or more than one group. */
import { isJsonObject, type JsonObject, objectAt } from '../json.ts'

/** Whether {@link convertBuiltin} knows objects of this kind in these versions. */
export function isBuiltinConversion(apiVersion: string): boolean {
  return ['v1', 'events.k8s.io/v1', 'autoscaling/v1', 'autoscaling/v2'].includes(apiVersion)
}

/** `object` in another version; a version it has no conversion for gets the new name only. */
export function convertBuiltin(object: JsonObject, toApiVersion: string): JsonObject {
  if (object.apiVersion === toApiVersion) return object
  if (object.kind === 'Event') return toApiVersion === 'v1' ? eventToCore(object) : eventFromCore(object)
  if (object.kind === 'HorizontalPodAutoscaler') {
    return toApiVersion === 'autoscaling/v1' ? autoscalerToV1(object) : autoscalerToV2(object)
  }
  return { ...object, apiVersion: toApiVersion }
}

/** Names of the same field in the core form and in `events.k8s.io`. */
const eventFields: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]

function eventFromCore(event: JsonObject): JsonObject {
  return rename(event, 'events.k8s.io/v1', eventFields)
}

function eventToCore(event: JsonObject): JsonObject {
  return rename(
    event,
    'v1',
    eventFields.map(([core, events]) => [events, core] as const),
  )
}

function rename(
  object: JsonObject,
  apiVersion: string,
  names: readonly (readonly [from: string, to: string])[],
): JsonObject {
  const renamed: JsonObject = { ...object, apiVersion }
  for (const [from, to] of names) {
    if (renamed[from] === undefined) continue
    renamed[to] = renamed[from]
    delete renamed[from]
  }
  return renamed
}

const metricsAnnotation = 'autoscaling.alpha.kubernetes.io/metrics'

/** The older form knows one metric; the others travel in an annotation and come back from it. */
function autoscalerToV1(object: JsonObject): JsonObject {
  const { metrics, behavior: _, ...spec } = objectAt(object, 'spec')
  const list = Array.isArray(metrics) ? metrics : []
  const cpu = list.find((metric) => isJsonObject(metric) && objectAt(metric, 'resource').name === 'cpu')
  const target = objectAt(objectAt(isJsonObject(cpu) ? cpu : {}, 'resource'), 'target').averageUtilization
  const others = list.filter((metric) => metric !== cpu)
  const metadata = { ...objectAt(object, 'metadata') }
  if (others.length > 0) {
    metadata.annotations = { ...objectAt(metadata, 'annotations'), [metricsAnnotation]: JSON.stringify(others) }
  }
  const { currentMetrics: __, conditions: ___, ...status } = objectAt(object, 'status')
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    ...(object.status === undefined ? {} : { status: { currentReplicas: 0, ...status } }),
  }
}

function autoscalerToV2(object: JsonObject): JsonObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, 'spec')
  const metadata = { ...objectAt(object, 'metadata') }
  const annotations = { ...objectAt(metadata, 'annotations') }
  const carried = annotations[metricsAnnotation]
  delete annotations[metricsAnnotation]
  if (metadata.annotations !== undefined) metadata.annotations = annotations
  const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } }
  const metrics = target === undefined ? [] : [{ type: 'Resource', resource }]
  const others = typeof carried === 'string' ? parseList(carried) : []
  const all = [...metrics, ...others]
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata,
    spec: { ...spec, ...(all.length === 0 ? {} : { metrics: all }) },
  }
}

function parseList(text: string): JsonObject[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value.filter(isJsonObject) : []
  } catch {
    // Somebody wrote the annotation by hand; without it the object is still valid.
    return []
  }
}
