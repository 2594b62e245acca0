/**
 * Validates allOf, anyOf, oneOf and not in the schema of a definition: they may restrict values, but declare nothing.
 */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { forbidden } from './field-error.ts'
import { checkListType, checkMapType } from './structural-lists.ts'

/** Keywords that declare something, and the value they must have. */
const declarations = [
  ['type', 'empty'],
  ['description', 'empty'],
  ['title', 'empty'],
  ['default', 'undefined'],
  ['nullable', 'false'],
  ['additionalProperties', 'undefined'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
] as const

/** The only place where types are allowed below a logical operator: the explicit form of int-or-string. */
const intOrString = [{ type: 'integer' }, { type: 'string' }]

/** Adds an error for every declaration below a logical operator. */
export function checkLogic(schema: JsonObject, path: string, errors: FieldError[]): void {
  const isIntOrString = schema['x-kubernetes-int-or-string'] === true
  for (const operator of ['allOf', 'anyOf', 'oneOf'] as const) {
    const alternatives = schema[operator]
    if (!Array.isArray(alternatives)) continue
    if (isIntOrString && operator === 'anyOf' && jsonEqual(alternatives, intOrString)) continue
    for (const [index, alternative] of alternatives.entries()) {
      const spellsOutTypes = isIntOrString && operator === 'allOf' && index === 0 && isSpelledOut(alternative)
      if (isJsonObject(alternative) && !spellsOutTypes)
        checkInside(alternative, `${path}.${operator}[${index}]`, errors)
    }
  }
  if (isJsonObject(schema.not)) checkInside(schema.not, `${path}.not`, errors)
}

function isSpelledOut(alternative: JsonValue): boolean {
  return jsonEqual(alternative, { anyOf: intOrString })
}

function checkInside(schema: JsonObject, path: string, errors: FieldError[]): void {
  for (const [keyword, expected] of declarations) {
    const value = schema[keyword]
    const isUnset =
      value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0)
    if (!isUnset) errors.push(forbidden(`${path}.${keyword}`, `must be ${expected} to be structural`))
  }
  checkListType(schema, path, errors)
  checkMapType(schema, path, errors)
  checkLogic(schema, path, errors)
  if (isJsonObject(schema.properties)) {
    for (const [name, field] of Object.entries(schema.properties)) {
      if (isJsonObject(field)) checkInside(field, `${path}.properties[${name}]`, errors)
    }
  }
  if (isJsonObject(schema.items)) checkInside(schema.items, `${path}.items`, errors)
}
