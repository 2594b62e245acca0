/** Validation of single values: type, numbers, strings, enumerations. */
import { isJsonObject, type JsonValue, jsonEqual } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { formatFloat, invalid, notSupported, tooLong, typeInvalid } from './field-error.ts'
import { matchesFormat } from './formats.ts'
import { matchesPattern } from './patterns.ts'
import type { Schema } from './schema.ts'

/** The error when a value does not have its schema's type; other checks are only meaningful without it. */
export function typeError(schema: Schema, value: JsonValue, path: string): FieldError | undefined {
  const types = schema['x-kubernetes-int-or-string'] ? intOrString : schema.type === undefined ? [] : [schema.type]
  if (types.length === 0 || (value === null && schema.nullable === true)) return undefined
  const actual = typeName(value)
  if (types.some((type) => type === actual || (type === 'number' && actual === 'integer'))) return undefined
  return typeInvalid(path, actual, `${path} in body must be of type ${types.join(',')}: "${actual}"`)
}

const intOrString = ['integer', 'string'] as const

function typeName(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  // Beyond 64 bits a number is not an integer anymore.
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'integer' : 'number'
  return typeof value
}

/** At most one error: the first limit that the string violates, or its format. */
export function textErrors(schema: Schema, text: string, path: string): FieldError[] {
  const errors: FieldError[] = []
  const limit = textLimitError(schema, text, path)
  if (limit !== undefined) errors.push(limit)
  if (schema.format !== undefined && !matchesFormat(schema.format, text)) {
    errors.push(typeInvalid(path, text, `${path} in body must be of type ${schema.format}: ${JSON.stringify(text)}`))
  }
  return errors
}

function textLimitError(schema: Schema, text: string, path: string): FieldError | undefined {
  const { minLength, maxLength, pattern } = schema
  if (maxLength !== undefined && codePoints(text) > maxLength) return tooLong(path, maxLength)
  if (minLength !== undefined && codePoints(text) < minLength) {
    return invalid(path, text, `${path} in body should be at least ${minLength} chars long`)
  }
  if (pattern !== undefined && !matchesPattern(schema, text)) {
    return invalid(path, text, `${path} in body should match '${pattern}'`)
  }
  return undefined
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Errors of a number against its limits. */
export function numberErrors(schema: Schema, value: number, path: string): FieldError[] {
  const { multipleOf, maximum, minimum } = schema
  const errors: FieldError[] = []
  const check = (bound: number | undefined, isViolated: (bound: number) => boolean, relation: string): void => {
    if (bound === undefined) return
    // An integer is compared with the integer part of a limit, as in the API server.
    const limit = Number.isInteger(value) ? Math.trunc(bound) : bound
    if (isViolated(limit))
      errors.push(invalid(path, value, `${path} in body should be ${relation} ${number(limit, value)}`))
  }
  check(multipleOf, (factor) => factor !== 0 && !isMultiple(value, factor), 'a multiple of')
  if (schema.exclusiveMaximum) check(maximum, (limit) => value >= limit, 'less than')
  else check(maximum, (limit) => value > limit, 'less than or equal to')
  if (schema.exclusiveMinimum) check(minimum, (limit) => value <= limit, 'greater than')
  else check(minimum, (limit) => value < limit, 'greater than or equal to')
  return errors
}

function isMultiple(value: number, factor: number): boolean {
  return Number.isInteger(value / factor)
}

/** A limit is printed like the value: as an integer for an integer. */
function number(limit: number, beside: number): string {
  return Number.isInteger(beside) ? String(limit) : formatFloat(limit)
}

/** The error when the value is not one of the enumerated values. */
export function enumError(schema: Schema, value: JsonValue, path: string): FieldError | undefined {
  const { enum: choices } = schema
  if (choices === undefined || choices.some((choice) => jsonEqual(choice, value))) return undefined
  if (value === null && schema.nullable === true) return undefined
  return notSupported(
    path,
    value,
    choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))),
  )
}
