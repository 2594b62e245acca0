/** HorizontalPodAutoscalers. */

import { parseQuantity } from '../../api/quantity.ts'
import { isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { nameProblems } from './formats.ts'
import { entriesOf, Problems, textAt } from './problems.ts'

const MAX_WINDOW_SECONDS = 3600
const MAX_PERIOD_SECONDS = 1800
const metricTypes = ['ContainerResource', 'External', 'Object', 'Pods', 'Resource']
const sourceOfType: Readonly<Record<string, string>> = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
}

/** Validates an autoscaler, in both versions. */
export function validateAutoscaler(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const { minReplicas, maxReplicas } = spec
  const max = Number(maxReplicas ?? 0)
  if (typeof minReplicas === 'number' && minReplicas < 1) {
    problems.invalid('spec.minReplicas', minReplicas, 'must be greater than or equal to 1')
  }
  if (max < 1) problems.invalid('spec.maxReplicas', max, 'must be greater than 0')
  if (typeof minReplicas === 'number' && max < minReplicas) {
    problems.invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`')
  }
  validateReference(problems, objectAt(spec, 'scaleTargetRef'), 'spec.scaleTargetRef')
  validateMetrics(problems, spec)
  for (const field of ['scaleUp', 'scaleDown']) {
    const rules = objectAt(spec, 'behavior')[field]
    if (isJsonObject(rules)) validateRules(problems, rules, `spec.behavior.${field}`)
  }
  return problems.errors
}

function validateReference(problems: Problems, reference: JsonObject, path: string): void {
  for (const field of ['kind', 'name']) {
    const value = textAt(reference, field)
    if (value === '') problems.required(`${path}.${field}`)
    else problems.invalidAll(`${path}.${field}`, value, nameProblems(value, 'path-segment'))
  }
  const version = textAt(reference, 'apiVersion')
  const isCore = version === 'v1' && textAt(reference, 'kind') === 'ReplicationController'
  if (!version.includes('/') && !isCore) {
    problems.invalid(`${path}.apiVersion`, version, 'apiVersion must specify API group')
  }
}

function validateMetrics(problems: Problems, spec: JsonObject): void {
  let scalesFromZero = false
  for (const [metric, at] of entriesOf(spec, 'metrics', 'spec.metrics')) {
    validateMetric(problems, metric, at)
    if (metric.type === 'Object' || metric.type === 'External') scalesFromZero = true
  }
  if (spec.minReplicas !== 0 || scalesFromZero) return
  const why = 'must specify at least one Object or External metric to support scaling to zero replicas'
  problems.forbidden('spec.metrics', why)
}

function validateMetric(problems: Problems, metric: JsonObject, path: string): void {
  const type = textAt(metric, 'type')
  if (type === '') problems.required(`${path}.type`, 'must specify a metric source type')
  const expected = sourceOfType[type]
  if (expected === undefined) {
    // The server validates the type twice, and reports it twice.
    for (let count = 0; count < 2; count += 1) problems.notSupported(`${path}.type`, type, metricTypes)
  } else if (!isJsonObject(metric[expected])) {
    problems.required(`${path}.${expected}`, 'must populate information for the given metric source')
  }
  const present = Object.values(sourceOfType).filter((field) => isJsonObject(metric[field]))
  const [first] = present
  if (first !== undefined) validateSource(problems, first, objectAt(metric, first), `${path}.${first}`)
  if (present.length === 1) return
  for (const field of present) {
    if (field !== expected) problems.forbidden(`${path}.${field}`, 'must populate the given metric source only')
  }
}

function validateSource(problems: Problems, field: string, source: JsonObject, path: string): void {
  const target = objectAt(source, 'target')
  const at = `${path}.target`
  if (field === 'resource' || field === 'containerResource') {
    if (textAt(source, 'name') === '') problems.required(`${path}.name`, 'must specify a resource name')
    if (field === 'containerResource' && textAt(source, 'container') === '') {
      problems.required(`${path}.container`, 'must specify a container')
    }
  } else {
    const name = textAt(objectAt(source, 'metric'), 'name')
    if (name === '') problems.required(`${path}.metric.name`, 'must specify a metric name')
    if (field === 'object') validateReference(problems, objectAt(source, 'describedObject'), `${path}.describedObject`)
  }
  validateTarget(problems, target, at)
  const { value, averageValue, averageUtilization } = target
  const isSet = (amount: unknown) => amount !== undefined
  if (field === 'resource' || field === 'containerResource') {
    if (!isSet(averageUtilization) && !isSet(averageValue)) {
      problems.required(`${at}.averageUtilization`, 'must set either a target raw value or a target utilization')
    }
    if (isSet(averageUtilization) && isSet(averageValue)) {
      problems.forbidden(`${at}.averageValue`, 'may not set both a target raw value and a target utilization')
    }
  } else if (field === 'pods') {
    if (!isSet(averageValue)) problems.required(`${at}.averageValue`, 'must specify a positive target averageValue')
  } else if (!isSet(value) && !isSet(averageValue)) {
    const choice =
      field === 'object' ? 'a target value or averageValue' : 'a target value for metric or a per-pod target'
    problems.required(`${at}.averageValue`, `must set either ${choice}`)
  } else if (field === 'external' && isSet(value) && isSet(averageValue)) {
    problems.forbidden(`${at}.value`, 'may not set both a target value for metric and a per-pod target')
  }
}

function validateTarget(problems: Problems, target: JsonObject, path: string): void {
  const type = textAt(target, 'type')
  if (type === '') problems.required(`${path}.type`, 'must specify a metric target type')
  if (!['Utilization', 'Value', 'AverageValue'].includes(type)) {
    problems.invalid(`${path}.type`, type, 'must be either Utilization, Value, or AverageValue')
  }
  for (const field of ['value', 'averageValue']) {
    const amount = target[field]
    if (typeof amount !== 'string' || parseQuantity(amount).unscaled > 0n) continue
    problems.invalid(`${path}.${field}`, amount, 'must be positive')
  }
  const { averageUtilization } = target
  if (typeof averageUtilization === 'number' && averageUtilization < 1) {
    problems.invalid(`${path}.averageUtilization`, averageUtilization, 'must be greater than 0')
  }
}

function validateRules(problems: Problems, rules: JsonObject, path: string): void {
  const window = rules.stabilizationWindowSeconds
  const windowAt = `${path}.stabilizationWindowSeconds`
  if (typeof window === 'number' && window < 0) {
    problems.invalid(windowAt, window, 'must be greater than or equal to zero')
  }
  if (typeof window === 'number' && window > MAX_WINDOW_SECONDS) {
    problems.invalid(windowAt, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`)
  }
  if (rules.selectPolicy !== undefined) {
    problems.oneOf(`${path}.selectPolicy`, rules.selectPolicy, ['Disabled', 'Max', 'Min'])
  }
  const policies = [...entriesOf(rules, 'policies', `${path}.policies`)]
  if (policies.length === 0) problems.required(`${path}.policies`, 'must specify at least one Policy')
  for (const [policy, at] of policies) {
    problems.oneOf(`${at}.type`, policy.type, ['Percent', 'Pods'])
    for (const field of ['value', 'periodSeconds']) {
      const value = Number(policy[field] ?? 0)
      if (value <= 0) problems.invalid(`${at}.${field}`, value, 'must be greater than zero')
    }
    if (Number(policy.periodSeconds) > MAX_PERIOD_SECONDS) {
      problems.invalid(
        `${at}.periodSeconds`,
        policy.periodSeconds,
        `must be less than or equal to ${MAX_PERIOD_SECONDS}`,
      )
    }
  }
}
