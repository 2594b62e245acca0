/** ValidatingAdmissionPolicies and their bindings; the plug-in that evaluates policies checks their expressions. */
import { isJsonObject, type JsonObject, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { qualifiedNameProblems } from './formats.ts'
import { validateSelector } from './label-selectors.ts'
import { entriesOf, Problems, textAt, textsAt } from './problems.ts'
import { validateRule } from './webhooks.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const actions = ['Audit', 'Deny', 'Warn']

/** Validates a ValidatingAdmissionPolicy. */
export function validateAdmissionPolicy(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  problems.oneOf('spec.failurePolicy', spec.failurePolicy, ['Fail', 'Ignore'])
  if (isJsonObject(spec.paramKind)) {
    for (const field of ['apiVersion', 'kind']) {
      if (textAt(spec.paramKind, field) === '') problems.required(`spec.paramKind.${field}`)
    }
  }
  if (isJsonObject(spec.matchConstraints)) {
    validateConstraints(problems, spec.matchConstraints, 'spec.matchConstraints')
    if ([...entriesOf(spec.matchConstraints, 'resourceRules', '')].length === 0) {
      problems.required('spec.matchConstraints.resourceRules')
    }
  } else problems.required('spec.matchConstraints')
  const validations = [...entriesOf(spec, 'validations', 'spec.validations')]
  const annotations = [...entriesOf(spec, 'auditAnnotations', 'spec.auditAnnotations')]
  if (validations.length + annotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item'
    for (const field of ['validations', 'auditAnnotations']) problems.required(`spec.${field}`, why)
  }
  for (const [validation, at] of validations) {
    if (textAt(validation, 'expression').trim() === '')
      problems.required(`${at}.expression`, 'expression is not specified')
    if (validation.reason !== undefined) problems.oneOf(`${at}.reason`, validation.reason, reasons)
  }
  for (const [annotation, at] of annotations) {
    if (textAt(annotation, 'key') === '') problems.required(`${at}.key`)
    if (textAt(annotation, 'valueExpression').trim() === '') {
      problems.required(`${at}.valueExpression`, 'valueExpression is not specified')
    }
  }
  for (const list of ['variables', 'matchConditions']) validateNamed(problems, spec, list)
  return problems.errors
}

function validateNamed(problems: Problems, spec: JsonObject, list: string): void {
  const names = new Set<string>()
  for (const [entry, at] of entriesOf(spec, list, `spec.${list}`)) {
    const name = textAt(entry, 'name')
    if (name === '') problems.required(`${at}.name`)
    else if (list === 'matchConditions') problems.invalidAll(`${at}.name`, name, qualifiedNameProblems(name))
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name))
      problems.invalid(`${at}.name`, name, 'name is not a valid CEL identifier')
    if (names.has(name)) problems.duplicate(`${at}.name`, name)
    names.add(name)
    if (textAt(entry, 'expression').trim() === '') problems.required(`${at}.expression`, 'expression is not specified')
  }
}

/** Validates a ValidatingAdmissionPolicyBinding. */
export function validateAdmissionPolicyBinding(object: JsonObject): readonly FieldError[] {
  const problems = new Problems()
  const spec = objectAt(object, 'spec')
  if (textAt(spec, 'policyName') === '') problems.required('spec.policyName')
  const chosen = textsAt(spec, 'validationActions')
  if (chosen.length === 0) problems.required('spec.validationActions')
  for (const [index, action] of chosen.entries()) {
    const at = `spec.validationActions[${index}]`
    if (chosen.indexOf(action) < index) problems.duplicate(at, action)
    problems.oneOf(at, action, actions)
  }
  if (chosen.includes('Deny') && chosen.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
    problems.invalid('spec.validationActions', [...chosen], why)
  }
  if (isJsonObject(spec.matchResources)) validateConstraints(problems, spec.matchResources, 'spec.matchResources')
  if (isJsonObject(spec.paramRef)) validateParamRef(problems, spec.paramRef)
  return problems.errors
}

function validateParamRef(problems: Problems, paramRef: JsonObject): void {
  const hasName = textAt(paramRef, 'name') !== ''
  if (hasName && isJsonObject(paramRef.selector)) {
    for (const field of ['name', 'selector'])
      problems.forbidden(`spec.paramRef.${field}`, 'name and selector are mutually exclusive')
  } else if (!hasName && !isJsonObject(paramRef.selector))
    problems.required('spec.paramRef', 'one of name or selector must be specified')
  if (textAt(paramRef, 'parameterNotFoundAction') === '') problems.required('spec.paramRef.parameterNotFoundAction')
  else problems.oneOf('spec.paramRef.parameterNotFoundAction', paramRef.parameterNotFoundAction, ['Allow', 'Deny'])
}

function validateConstraints(problems: Problems, constraints: JsonObject, path: string): void {
  problems.oneOf(`${path}.matchPolicy`, constraints.matchPolicy, ['Equivalent', 'Exact'])
  for (const field of ['namespaceSelector', 'objectSelector']) {
    validateSelector(problems, constraints[field], `${path}.${field}`)
  }
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [rule, at] of entriesOf(constraints, list, `${path}.${list}`)) validateRule(problems, rule, at)
  }
}
