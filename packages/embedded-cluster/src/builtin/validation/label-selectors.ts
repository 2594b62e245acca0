/** Labels and label selectors. */
import { arrayAt, isJsonObject, type JsonObject, type JsonValue, objectAt } from '../../json.ts'
import { labelValueProblems, qualifiedNameProblems } from './formats.ts'
import { entriesOf, type Problems, textAt, textsAt } from './problems.ts'

/** Validates keys and values of a map of labels. */
export function validateLabels(problems: Problems, labels: JsonValue | undefined, path: string): void {
  if (!isJsonObject(labels)) return
  for (const [key, value] of Object.entries(labels)) {
    problems.invalidAll(path, key, qualifiedNameProblems(key))
    problems.invalidAll(path, String(value), labelValueProblems(String(value)))
  }
}

/** Validates the number of values of a requirement for its operator. */
export function validateOperator(problems: Problems, operator: string, values: readonly string[], at: string): void {
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) problems.required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    if (values.length > 0) problems.forbidden(`${at}.values`, why)
  } else problems.invalid(`${at}.operator`, operator, 'not a valid selector operator')
}

/** Validates a label selector. */
export function validateSelector(problems: Problems, selector: JsonValue | undefined, path: string): void {
  if (!isJsonObject(selector)) return
  validateLabels(problems, selector.matchLabels, `${path}.matchLabels`)
  for (const [requirement, at] of entriesOf(selector, 'matchExpressions', `${path}.matchExpressions`)) {
    const operator = textAt(requirement, 'operator')
    const values = textsAt(requirement, 'values')
    validateOperator(problems, operator, values, at)
    const key = textAt(requirement, 'key')
    problems.invalidAll(`${at}.key`, key, qualifiedNameProblems(key))
    for (const [index, value] of values.entries()) {
      problems.invalidAll(`${at}.values[${index}]`, value, labelValueProblems(value))
    }
  }
}

/** Whether a selector has no requirement at all. */
export function isEmptySelector(selector: JsonObject): boolean {
  return (
    Object.keys(objectAt(selector, 'matchLabels')).length === 0 && arrayAt(selector, 'matchExpressions').length === 0
  )
}

/** Whether labels satisfy a valid selector. */
export function matchesSelector(selector: JsonObject, labels: JsonObject): boolean {
  const isEqual = Object.entries(objectAt(selector, 'matchLabels')).every(([key, value]) => labels[key] === value)
  return (
    isEqual && [...entriesOf(selector, 'matchExpressions', '')].every(([requirement]) => holds(requirement, labels))
  )
}

function holds(requirement: JsonObject, labels: JsonObject): boolean {
  const value = labels[textAt(requirement, 'key')]
  const isIn = typeof value === 'string' && textsAt(requirement, 'values').includes(value)
  switch (requirement.operator) {
    case 'In':
      return isIn
    case 'NotIn':
      return !isIn
    case 'Exists':
      return value !== undefined
    default:
      return value === undefined
  }
}
