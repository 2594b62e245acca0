/** Disruption budgets, priority classes, runtime classes and leases. */
import { type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { atMostAll, countOrPercent, IMMUTABLE, nameProblems, notNegative } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { Problems, textAt } from './problems.ts'

const MAX_USER_PRIORITY = 1_000_000_000
const systemClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

/** Validates a PodDisruptionBudget. */
export function validateDisruptionBudget(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy } = spec
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = {
      MinAvailable: minAvailable,
      Selector: spec.selector,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: unhealthyPodEvictionPolicy,
    }
    problems.invalidStruct('spec', shown, 'minAvailable and maxUnavailable cannot be both set')
  }
  for (const [field, value] of [
    ['minAvailable', minAvailable],
    ['maxUnavailable', maxUnavailable],
  ] as const) {
    countOrPercent(problems, `spec.${field}`, value)
    atMostAll(problems, `spec.${field}`, value)
  }
  validateSelector(problems, spec.selector, 'spec.selector')
  if (unhealthyPodEvictionPolicy !== undefined) {
    const known = ['AlwaysAllow', 'IfHealthyBudget']
    problems.oneOf('spec.unhealthyPodEvictionPolicy', unhealthyPodEvictionPolicy, known)
  }
  return problems.errors
}

/** Validates a PriorityClass. */
export function validatePriorityClass(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const name = textAt(objectAt(object, 'metadata'), 'name')
  const value = Number(object.value ?? 0)
  if (name.startsWith('system-')) {
    if (systemClasses[name] !== value) {
      const why = "priority class names with 'system-' prefix are reserved for system use only. error:"
      problems.forbidden('metadata.name', `${why} ${name} is not a known system priority class`)
    }
  } else if (value > MAX_USER_PRIORITY) {
    problems.forbidden('value', `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`)
  }
  problems.oneOf('preemptionPolicy', object.preemptionPolicy, ['PreemptLowerPriority', 'Never'])
  if (old !== undefined && object.value !== old.value) {
    problems.forbidden('value', 'may not be changed in an update.')
  }
  if (old !== undefined && object.preemptionPolicy !== old.preemptionPolicy) {
    problems.invalid('preemptionPolicy', object.preemptionPolicy, IMMUTABLE)
  }
  return problems.errors
}

/** Validates a RuntimeClass. */
export function validateRuntimeClass(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const handler = textAt(object, 'handler')
  problems.invalidAll('handler', handler, nameProblems(handler, 'label'))
  if (old !== undefined && handler !== old.handler) problems.invalid('handler', handler, IMMUTABLE)
  return problems.errors
}

/** Validates a Lease. */
export function validateLease(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  const { leaseDurationSeconds } = spec
  if (typeof leaseDurationSeconds === 'number' && leaseDurationSeconds <= 0) {
    problems.invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0')
  }
  notNegative(problems, 'spec.leaseTransitions', spec.leaseTransitions)
  return problems.errors
}
