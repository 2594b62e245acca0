/**
 * Converts HorizontalPodAutoscalers between `autoscaling/v1` and `autoscaling/v2`. v1 has one metric and neither
 * behaviour nor conditions: whatever it has no field for is stored in annotations and restored from them.
 */
import { isJsonObject, type JsonObject, type JsonValue, objectAt } from '../json.ts'

const PREFIX = 'autoscaling.alpha.kubernetes.io'
const METRICS = `${PREFIX}/metrics`
const CURRENT_METRICS = `${PREFIX}/current-metrics`
const CONDITIONS = `${PREFIX}/conditions`
const BEHAVIOR = `${PREFIX}/behavior`

/** The fields of a metric's source in the old form, mapped to their paths in the new form. */
type FieldPaths = readonly (readonly [old: string, path: readonly string[]])[]

const sources: Readonly<Record<string, { readonly spec: FieldPaths; readonly status: FieldPaths }>> = {
  object: {
    spec: [
      ['target', ['describedObject']],
      ['metricName', ['metric', 'name']],
      ['selector', ['metric', 'selector']],
      ['targetValue', ['target', 'value']],
      ['averageValue', ['target', 'averageValue']],
    ],
    status: [
      ['target', ['describedObject']],
      ['metricName', ['metric', 'name']],
      ['selector', ['metric', 'selector']],
      ['currentValue', ['current', 'value']],
      ['averageValue', ['current', 'averageValue']],
    ],
  },
  pods: {
    spec: [
      ['metricName', ['metric', 'name']],
      ['selector', ['metric', 'selector']],
      ['targetAverageValue', ['target', 'averageValue']],
    ],
    status: [
      ['metricName', ['metric', 'name']],
      ['selector', ['metric', 'selector']],
      ['currentAverageValue', ['current', 'averageValue']],
    ],
  },
  resource: { spec: ofResource('target'), status: ofResource('current') },
  containerResource: {
    spec: [...ofResource('target'), ['container', ['container']]],
    status: [...ofResource('current'), ['container', ['container']]],
  },
  external: {
    spec: [
      ['metricName', ['metric', 'name']],
      ['metricSelector', ['metric', 'selector']],
      ['targetValue', ['target', 'value']],
      ['targetAverageValue', ['target', 'averageValue']],
    ],
    status: [
      ['metricName', ['metric', 'name']],
      ['metricSelector', ['metric', 'selector']],
      ['currentValue', ['current', 'value']],
      ['currentAverageValue', ['current', 'averageValue']],
    ],
  },
}

function ofResource(side: 'target' | 'current'): FieldPaths {
  return [
    ['name', ['name']],
    [`${side}AverageUtilization`, [side, 'averageUtilization']],
    [`${side}AverageValue`, [side, 'averageValue']],
  ]
}

/** Converts an autoscaler from v2 to v1. */
export function autoscalerToV1(object: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = objectAt(object, 'spec')
  const { currentMetrics, conditions, ...status } = objectAt(object, 'status')
  const wanted = objectsOf(metrics)
  const cpu = wanted.find((metric) => isCpuUtilization(metric, 'target'))
  const current = objectsOf(currentMetrics)
  const currentCpu = current.find((metric) => isCpuUtilization(metric, 'current'))
  const others = wanted.filter((metric) => metric !== cpu).map((metric) => toOldForm(metric, 'spec'))
  const annotations = {
    ...objectAt(objectAt(object, 'metadata'), 'annotations'),
    ...carried(METRICS, others),
    // The CPU metric stays in the list, because the v1 field does not contain the amount behind the percentage.
    ...carried(
      CURRENT_METRICS,
      current.map((metric) => toOldForm(metric, 'status')),
    ),
    ...carried(CONDITIONS, objectsOf(conditions)),
    ...(isJsonObject(behavior) && { [BEHAVIOR]: JSON.stringify(behaviorInGo(behavior)) }),
  }
  return {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, annotations),
    spec: { ...spec, ...optional('targetCPUUtilizationPercentage', utilization(cpu, 'target')) },
    status: { ...status, ...optional('currentCPUUtilizationPercentage', utilization(currentCpu, 'current')) },
  }
}

/** Converts an autoscaler from v1 to v2. */
export function autoscalerToV2(object: JsonObject): JsonObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectAt(object, 'spec')
  const { currentCPUUtilizationPercentage: _, ...status } = objectAt(object, 'status')
  const {
    [METRICS]: metrics,
    [CURRENT_METRICS]: currentMetrics,
    [CONDITIONS]: conditions,
    [BEHAVIOR]: behavior,
    ...annotations
  } = objectAt(objectAt(object, 'metadata'), 'annotations')
  const resource = { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } }
  const all = [
    ...listIn(metrics).map((metric) => toNewForm(metric, 'spec')),
    ...(target === undefined ? [] : [{ type: 'Resource', resource }]),
  ]
  const restored = parsed(behavior)
  return {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, annotations),
    spec: {
      ...spec,
      ...(all.length > 0 && { metrics: all }),
      ...(isJsonObject(restored) && { behavior: fromGo(restored) }),
    },
    status: {
      ...status,
      ...(currentMetrics !== undefined && {
        currentMetrics: listIn(currentMetrics).map((metric) => toNewForm(metric, 'status')),
      }),
      ...(conditions !== undefined && { conditions: listIn(conditions) }),
    },
  }
}

function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _, ...metadata } = objectAt(object, 'metadata')
  return Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations }
}

function carried(annotation: string, list: readonly JsonObject[]): JsonObject {
  return list.length === 0 ? {} : { [annotation]: JSON.stringify(list) }
}

function optional(field: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [field]: value }
}

function isCpuUtilization(metric: JsonObject, side: 'target' | 'current'): boolean {
  return objectAt(metric, 'resource').name === 'cpu' && utilization(metric, side) !== undefined
}

function utilization(metric: JsonObject | undefined, side: 'target' | 'current'): JsonValue | undefined {
  return objectAt(objectAt(metric, 'resource'), side).averageUtilization
}

function toOldForm(metric: JsonObject, part: 'spec' | 'status'): JsonObject {
  return withSource(metric, part, (source, fields) => {
    const old: JsonObject = {}
    for (const [name, [first = '', second]] of fields) {
      const value = second === undefined ? source[first] : objectAt(source, first)[second]
      if (value !== undefined) old[name] = value
    }
    return old
  })
}

function toNewForm(metric: JsonObject, part: 'spec' | 'status'): JsonObject {
  return withSource(metric, part, (source, fields) => {
    const form: JsonObject = {}
    for (const [name, [first = '', second]] of fields) {
      const value = source[name]
      if (value === undefined) continue
      form[first] = second === undefined ? value : { ...objectAt(form, first), [second]: value }
    }
    const target = form.target
    if (isJsonObject(target)) form.target = { type: targetType(target), ...target }
    return form
  })
}

/** The old form has no target type: it follows from the field that is set. */
function targetType(target: JsonObject): string {
  if (target.averageUtilization !== undefined) return 'Utilization'
  return target.averageValue === undefined ? 'Value' : 'AverageValue'
}

/** `metric` with its single source converted. */
function withSource(
  metric: JsonObject,
  part: 'spec' | 'status',
  change: (source: JsonObject, fields: FieldPaths) => JsonObject,
): JsonObject {
  const result: JsonObject = { type: metric.type }
  for (const [name, fields] of Object.entries(sources)) {
    const source = metric[name]
    if (isJsonObject(source)) result[name] = change(source, fields[part])
  }
  return result
}

/** The behaviour annotation is encoded from Go types without JSON names: it has all fields, in Go's case. */
function behaviorInGo(behavior: JsonObject): JsonObject {
  return { ScaleUp: rulesInGo(behavior.scaleUp), ScaleDown: rulesInGo(behavior.scaleDown) }
}

function rulesInGo(rules: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(rules)) return null
  const { stabilizationWindowSeconds = null, selectPolicy = null, policies, tolerance = null } = rules
  return {
    StabilizationWindowSeconds: stabilizationWindowSeconds,
    SelectPolicy: selectPolicy,
    Policies: objectsOf(policies).map(({ type, value, periodSeconds }) => ({
      Type: type,
      Value: value,
      PeriodSeconds: periodSeconds,
    })),
    Tolerance: tolerance,
  }
}

function fromGo(value: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const [field, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue
    const list = Array.isArray(item) ? objectsOf(item).map(fromGo) : undefined
    const name = `${field.charAt(0).toLowerCase()}${field.slice(1)}`
    result[name] = list ?? (isJsonObject(item) ? fromGo(item) : item)
  }
  return result
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function listIn(annotation: JsonValue | undefined): JsonObject[] {
  return objectsOf(parsed(annotation))
}

function parsed(annotation: JsonValue | undefined): JsonValue | undefined {
  if (typeof annotation !== 'string') return undefined
  try {
    // JSON.parse returns only JSON.
    return JSON.parse(annotation) as JsonValue
  } catch {
    // A malformed annotation is ignored; the object is valid without it.
    return undefined
  }
}
