/** Field errors with the messages of API validation. */
import { isJsonObject, type JsonValue } from '../json.ts'
import type { FieldError } from '../status-error.ts'

/** `Required value`, optionally with a detail. */
export function required(field: string, detail = ''): FieldError {
  return { field, reason: 'FieldValueRequired', message: withDetail('Required value', detail) }
}

/** `Invalid value: 200: must be …` */
export function invalid(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: withDetail(`Invalid value: ${shown(value)}`, detail) }
}

/** Like `invalid`, for a value of the wrong type or format. */
export function typeInvalid(field: string, value: JsonValue | undefined, detail: string): FieldError {
  return { ...invalid(field, value, detail), reason: 'FieldValueTypeInvalid' }
}

/** `Unsupported value: "green": supported values: "red", "blue"` */
export function notSupported(field: string, value: JsonValue, supported: readonly string[]): FieldError {
  const list = supported.map((choice) => JSON.stringify(choice)).join(', ')
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: withDetail(`Unsupported value: ${shown(value)}`, list === '' ? '' : `supported values: ${list}`),
  }
}

/** `Duplicate value: "a"` */
export function duplicate(field: string, value: JsonValue): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${shown(value)}` }
}

/** `Forbidden: may not be set` */
export function forbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail) }
}

/** `Too long: may not be more than 63 bytes` */
export function tooLong(field: string, maxBytes: number): FieldError {
  return { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${maxBytes} bytes` }
}

/** `Too many: 4: must have at most 3 items` */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    field,
    reason: 'FieldValueTooMany',
    message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? '' : 's'}`,
  }
}

function withDetail(message: string, detail: string): string {
  return detail === '' ? message : `${message}: ${detail}`
}

/** A value in the format of messages: text quoted, numbers in the notation of the API server, the rest as JSON. */
function shown(value: JsonValue | undefined): string {
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : formatFloat(value)
  if (Array.isArray(value) || isJsonObject(value)) return JSON.stringify(sortedFields(value))
  return JSON.stringify(value ?? null)
}

function sortedFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortedFields)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sortedFields(field ?? null)]),
  )
}

/** A floating-point number in the API server's format: with an exponent from a million on, such as `2e+07`. */
export function formatFloat(value: number): string {
  const [digits = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  // JavaScript formats all of these without an exponent, too.
  if (exponent >= -4 && exponent < 6) return String(value)
  const sign = exponent < 0 ? '-' : '+'
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`
}
