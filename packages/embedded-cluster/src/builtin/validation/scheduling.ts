/** Scheduling constraints of pods: selectors, affinities, tolerations, spreading. */
import { isJsonObject, type JsonObject, type JsonValue, objectAt } from '../../json.ts'
import { labelValueProblems, nameProblems, qualifiedNameProblems } from './formats.ts'
import { validateLabels, validateOperator, validateSelector } from './label-selectors.ts'
import { entriesOf, type Problems, textAt, textsAt } from './problems.ts'

export const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']
const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

/** Validates all scheduling constraints in a pod's spec. */
export function validateScheduling(problems: Problems, spec: JsonObject, path: string): void {
  validateLabels(problems, spec.nodeSelector, `${path}.nodeSelector`)
  const affinity = objectAt(spec, 'affinity')
  const at = `${path}.affinity`
  if (isJsonObject(affinity.nodeAffinity)) validateNodeAffinity(problems, affinity.nodeAffinity, `${at}.nodeAffinity`)
  for (const field of ['podAffinity', 'podAntiAffinity']) {
    const rules = affinity[field]
    if (isJsonObject(rules)) validatePodAffinity(problems, rules, `${at}.${field}`)
  }
  validateTolerations(problems, spec, path)
  validateSpread(problems, spec, `${path}.topologySpreadConstraints`)
}

function validateWeight(problems: Problems, weight: JsonValue | undefined, path: string): void {
  const isInRange = typeof weight === 'number' && weight >= 1 && weight <= 100
  if (!isInRange) problems.invalid(path, weight ?? 0, 'must be in the range 1-100')
}

function validateNodeAffinity(problems: Problems, affinity: JsonObject, path: string): void {
  if (isJsonObject(affinity[required])) validateNodeSelector(problems, affinity[required], `${path}.${required}`)
  for (const [term, at] of entriesOf(affinity, preferred, `${path}.${preferred}`)) {
    validateWeight(problems, term.weight, `${at}.weight`)
    validateNodeTerm(problems, objectAt(term, 'preference'), `${at}.preference`)
  }
}

/** Validates a node selector. */
export function validateNodeSelector(problems: Problems, selector: JsonObject, path: string): void {
  const terms = [...entriesOf(selector, 'nodeSelectorTerms', `${path}.nodeSelectorTerms`)]
  if (terms.length === 0) problems.required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')
  for (const [term, at] of terms) validateNodeTerm(problems, term, at)
}

function validateNodeTerm(problems: Problems, term: JsonObject, path: string): void {
  for (const [requirement, at] of entriesOf(term, 'matchExpressions', `${path}.matchExpressions`)) {
    const operator = textAt(requirement, 'operator')
    const values = textsAt(requirement, 'values')
    if (operator === 'Gt' || operator === 'Lt') {
      const why = "must be specified single value when `operator` is 'Lt' or 'Gt'"
      if (values.length !== 1) problems.required(`${at}.values`, why)
    } else validateOperator(problems, operator, values, at)
    const key = textAt(requirement, 'key')
    problems.invalidAll(`${at}.key`, key, qualifiedNameProblems(key))
    for (const [index, value] of values.entries()) {
      problems.invalidAll(`${at}.values[${index}]`, value, labelValueProblems(value))
    }
  }
}

function validatePodAffinity(problems: Problems, affinity: JsonObject, path: string): void {
  for (const [term, at] of entriesOf(affinity, required, `${path}.${required}`)) validatePodTerm(problems, term, at)
  for (const [weighted, at] of entriesOf(affinity, preferred, `${path}.${preferred}`)) {
    validateWeight(problems, weighted.weight, `${at}.weight`)
    validatePodTerm(problems, objectAt(weighted, 'podAffinityTerm'), `${at}.podAffinityTerm`)
  }
}

function validatePodTerm(problems: Problems, term: JsonObject, path: string): void {
  validateSelector(problems, term.labelSelector, `${path}.labelSelector`)
  validateSelector(problems, term.namespaceSelector, `${path}.namespaceSelector`)
  for (const name of textsAt(term, 'namespaces'))
    problems.invalidAll(`${path}.namespace`, name, nameProblems(name, 'label'))
  const key = textAt(term, 'topologyKey')
  if (key === '') problems.required(`${path}.topologyKey`, 'can not be empty')
  problems.invalidAll(`${path}.topologyKey`, key, qualifiedNameProblems(key))
}

/** Validates the tolerations of a pod. */
function validateTolerations(problems: Problems, spec: JsonObject, path: string): void {
  for (const [toleration, at] of entriesOf(spec, 'tolerations', `${path}.tolerations`)) {
    const key = textAt(toleration, 'key')
    const operator = textAt(toleration, 'operator')
    const value = textAt(toleration, 'value')
    const effect = textAt(toleration, 'effect')
    if (key !== '') problems.invalidAll(`${at}.key`, key, qualifiedNameProblems(key))
    else if (operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      problems.invalid(`${at}.operator`, operator, why)
    }
    if (toleration.tolerationSeconds !== undefined && effect !== 'NoExecute') {
      problems.invalid(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    }
    if (operator === '' || operator === 'Equal') {
      const why = labelValueProblems(value)
      if (why.length > 0) problems.invalid(`${at}.operator`, value, why.join(';'))
    } else if (operator === 'Exists') {
      if (value !== '') problems.invalid(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'")
    } else problems.notSupported(`${at}.operator`, operator, ['Equal', 'Exists'])
    if (effect !== '') problems.oneOf(`${at}.effect`, effect, taintEffects)
  }
}

function validateSpread(problems: Problems, spec: JsonObject, path: string): void {
  for (const [constraint, at] of entriesOf(spec, 'topologySpreadConstraints', path)) {
    const { maxSkew } = constraint
    if (typeof maxSkew !== 'number' || maxSkew <= 0) {
      problems.invalid(`${at}.maxSkew`, maxSkew ?? 0, 'must be greater than zero')
    }
    if (textAt(constraint, 'topologyKey') === '') problems.required(`${at}.topologyKey`, 'can not be empty')
    problems.oneOf(`${at}.whenUnsatisfiable`, constraint.whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'])
    validateSelector(problems, constraint.labelSelector, `${at}.labelSelector`)
  }
}
