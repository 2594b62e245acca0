/** Collects validation errors of an object, with the messages of the API server. */
import { arrayAt, isJsonObject, type JsonObject, type JsonValue } from '../../json.ts'
import * as fieldError from '../../schema/field-error.ts'
import type { FieldError } from '../../status-error.ts'

/** Errors found so far. Paths are those of the messages, such as `spec.ports[0].name`. */
export class Problems {
  readonly errors: FieldError[] = []

  required(field: string, detail?: string): void {
    this.errors.push(fieldError.required(field, detail))
  }

  invalid(field: string, value: JsonValue | undefined, detail: string): void {
    this.errors.push(fieldError.invalid(field, value, detail))
  }

  /** `invalid` once for each of `details`. */
  invalidAll(field: string, value: JsonValue | undefined, details: readonly string[]): void {
    for (const detail of details) this.invalid(field, value, detail)
  }

  /** `invalid` for a struct, which the messages print with its fields in the order and case of Go. */
  invalidStruct(field: string, shown: Readonly<Record<string, JsonValue | undefined>>, detail: string): void {
    const text = JSON.stringify(shown, (_, value) => value ?? null)
    this.errors.push({ field, reason: 'FieldValueInvalid', message: `Invalid value: ${text}: ${detail}` })
  }

  notSupported(field: string, value: JsonValue | undefined, supported: readonly string[]): void {
    this.errors.push(fieldError.notSupported(field, value ?? '', supported))
  }

  /** `notSupported` unless `value` is one of `supported`. */
  oneOf(field: string, value: JsonValue | undefined, supported: readonly string[]): void {
    if (typeof value !== 'string' || !supported.includes(value)) this.notSupported(field, value, supported)
  }

  duplicate(field: string, value: JsonValue): void {
    this.errors.push(fieldError.duplicate(field, value))
  }

  /** `duplicate` for a struct, printed as in {@link invalidStruct}. */
  duplicateStruct(field: string, shown: Readonly<Record<string, JsonValue | undefined>>, detail?: string): void {
    const text = JSON.stringify(shown, (_, value) => value ?? null)
    const message = `Duplicate value: ${text}${detail === undefined ? '' : `: ${detail}`}`
    this.errors.push({ field, reason: 'FieldValueDuplicate', message })
  }

  forbidden(field: string, detail: string): void {
    this.errors.push(fieldError.forbidden(field, detail))
  }

  notFound(field: string, value: JsonValue): void {
    this.errors.push({ field, reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(value)}` })
  }

  tooLong(field: string, maxBytes: number): void {
    this.errors.push(fieldError.tooLong(field, maxBytes))
  }

  /** Adds errors of another validation. */
  add(errors: readonly FieldError[]): void {
    this.errors.push(...errors)
  }
}

/** The objects in a list with their paths. A decoded object contains nothing else in lists of objects. */
export function* entriesOf(parent: JsonObject, field: string, path: string): Generator<readonly [JsonObject, string]> {
  for (const [index, item] of arrayAt(parent, field).entries()) {
    if (isJsonObject(item)) yield [item, `${path}[${index}]`]
  }
}

/** The string under `field`; empty when there is none, as in Go. */
export function textAt(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

/** The strings in a list. */
export function textsAt(object: JsonObject, field: string): string[] {
  return arrayAt(object, field).map(String)
}
