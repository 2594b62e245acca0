/** Builds field errors in the words of API validation. */
import type { JsonValue } from '../json.ts'
import type { FieldError } from '../status-error.ts'

/** The field is missing. */
export function required(field: string, why = ''): FieldError {
  return { field, reason: 'FieldValueRequired', message: why === '' ? 'Required value' : `Required value: ${why}` }
}

/** The value is wrong. */
export function invalidValue(field: string, value: JsonValue | undefined, why: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value ?? null)}: ${why}` }
}

/** The value is none of those that are known. */
export function notSupported(field: string, value: JsonValue | undefined, supported: readonly string[]): FieldError {
  const list = supported.map((one) => JSON.stringify(one)).join(', ')
  const message = `Unsupported value: ${JSON.stringify(value ?? null)}: supported values: ${list}`
  return { field, reason: 'FieldValueNotSupported', message }
}

/** The value is there twice. */
export function duplicate(field: string, value: JsonValue): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}` }
}

/** The field may not be set here. */
export function forbiddenField(field: string, why: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${why}` }
}
