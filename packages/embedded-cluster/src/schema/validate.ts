/** Validates objects against the schema of their custom resource, with the messages of the API server. */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { invalid, required, tooMany } from './field-error.ts'
import { ownEntry, ownField } from './json-value.ts'
import { duplicateErrors } from './list-uniqueness.ts'
import type { Schema } from './schema.ts'
import { enumError, numberErrors, textErrors, typeError } from './validate-scalar.ts'

/** Options of `validateSchema`. */
export interface ValidateOptions {
  /**
   * The stored object, for an update. Parts that are equal in both are not reported, so that restricting a schema does
   * not block updates of existing objects.
   */
  readonly old?: JsonObject | undefined
}

/**
 * Every violation of the schema, then every duplicate in a set or keyed list.
 *
 * *Assumptions*: the object has been pruned and defaulted; CEL rules are evaluated separately, if this reports nothing.
 */
export function validateSchema(
  schema: Schema | undefined,
  object: JsonObject,
  options: ValidateOptions = {},
): FieldError[] {
  if (schema === undefined) return []
  const errors: FieldError[] = []
  validateValue(schema, object, options.old, '', errors)
  const duplicates = duplicateErrors(schema, object)
  // Duplicates that existed before the rule do not block other changes.
  if (duplicates.length > 0 && (options.old === undefined || duplicateErrors(schema, options.old).length === 0)) {
    errors.push(...duplicates)
  }
  return errors
}

/** Violations in a part of an object; the fields in the errors are relative to it. */
export function validateAt(schema: Schema, value: JsonValue): FieldError[] {
  const errors: FieldError[] = []
  validateValue(schema, value, undefined, '', errors)
  return errors
}

function validateValue(
  schema: Schema,
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  const found: FieldError[] = []
  const mismatch = typeError(schema, value, path)
  if (mismatch !== undefined) {
    const unsupported = enumError(schema, value, path)
    found.push(mismatch, ...(unsupported === undefined ? [] : [unsupported]))
  } else if (value !== null) validateParts(schema, value, old, path, found)
  // The comparison is expensive, so it only runs when there are errors to ignore.
  if (found.length > 0 && !(old !== undefined && jsonEqual(old, value))) errors.push(...found)
}

function validateParts(
  schema: Schema,
  value: JsonValue,
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  validateCombinations(schema, value, path, errors)
  if (typeof value === 'string') errors.push(...textErrors(schema, value, path))
  else if (typeof value === 'number') errors.push(...numberErrors(schema, value, path))
  else if (Array.isArray(value)) validateList(schema, value, old, path, errors)
  const unsupported = enumError(schema, value, path)
  if (unsupported !== undefined) errors.push(unsupported)
  if (isJsonObject(value)) validateObject(schema, value, old, path, errors)
}

function validateList(
  schema: Schema,
  list: readonly JsonValue[],
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  const { items, minItems, maxItems } = schema
  if (items !== undefined) {
    const counterpart = oldItems(schema, old)
    for (const [index, item] of list.entries()) {
      validateValue(items, item, counterpart?.(item), `${path}[${index}]`, errors)
    }
  }
  if (minItems !== undefined && list.length < minItems) {
    errors.push(invalid(path, list.length, `${path} in body should have at least ${minItems} items`))
  }
  if (maxItems !== undefined && list.length > maxItems) errors.push(tooMany(path, list.length, maxItems))
}

/** Only items of keyed lists have an identity, so only they can be compared with their old state. */
function oldItems(
  schema: Schema,
  old: JsonValue | undefined,
): ((item: JsonValue) => JsonValue | undefined) | undefined {
  const keys = schema['x-kubernetes-list-map-keys']
  if (schema['x-kubernetes-list-type'] !== 'map' || keys === undefined || !Array.isArray(old)) return undefined
  return (item) => {
    if (!isJsonObject(item)) return undefined
    return old.find(
      (candidate) =>
        isJsonObject(candidate) && keys.every((key) => jsonEqual(ownField(candidate, key), ownField(item, key))),
    )
  }
}

function validateObject(
  schema: Schema,
  object: JsonObject,
  old: JsonValue | undefined,
  path: string,
  errors: FieldError[],
): void {
  const count = sizeError(schema, object, path)
  if (count !== undefined) {
    errors.push(count)
    return
  }
  for (const name of schema.required ?? []) {
    if (ownField(object, name) === undefined) errors.push(required(childPath(path, name)))
  }
  if (schema['x-kubernetes-embedded-resource']) errors.push(...embeddedErrors(object, path))
  for (const name in object) {
    const value = object[name]
    if (value === undefined) continue
    const additional = schema.additionalProperties
    const field = ownEntry(schema.properties, name) ?? (typeof additional === 'object' ? additional : undefined)
    if (field === undefined) continue
    validateValue(field, value, isJsonObject(old) ? ownField(old, name) : undefined, childPath(path, name), errors)
  }
}

const kindName = /^[a-z]([-a-z0-9]*[a-z0-9])?$/i
const kindText =
  "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

/** An embedded object must have an apiVersion and a kind. */
function embeddedErrors(object: JsonObject, path: string): FieldError[] {
  const problem = (name: string, isWrong: (value: string) => boolean, why: (value: string) => string): FieldError[] => {
    const value = ownField(object, name)
    if (value === undefined) return [required(childPath(path, name))]
    if (typeof value !== 'string') return []
    if (value === '') return [invalid(childPath(path, name), value, 'must not be empty')]
    return isWrong(value) ? [invalid(childPath(path, name), value, why(value))] : []
  }
  return [
    ...problem(
      'apiVersion',
      (value) => value.split('/').length > 2,
      (value) => `unexpected GroupVersion string: ${value}`,
    ),
    ...problem(
      'kind',
      (value) => !kindName.test(value),
      () => kindText,
    ),
  ]
}

function sizeError({ minProperties, maxProperties }: Schema, object: JsonObject, path: string): FieldError | undefined {
  if (minProperties === undefined && maxProperties === undefined) return undefined
  const count = Object.values(object).filter((value) => value !== undefined).length
  if (minProperties !== undefined && count < minProperties) {
    return invalid(path, count, `${path} in body should have at least ${minProperties} properties`)
  }
  return maxProperties !== undefined && count > maxProperties ? tooMany(path, count, maxProperties) : undefined
}

function childPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** These errors have no field; the API server prints the missing path as `<nil>`. */
function combinationError(detail: string): FieldError {
  return invalid('<nil>', '', detail)
}

function validateCombinations(schema: Schema, value: JsonValue, path: string, errors: FieldError[]): void {
  const { allOf, anyOf, oneOf, not } = schema
  if (allOf === undefined && anyOf === undefined && oneOf === undefined && not === undefined) return
  const errorsOf = (alternative: Schema): FieldError[] => {
    const found: FieldError[] = []
    validateValue(alternative, value, undefined, path, found)
    return found
  }
  // The alternatives of int-or-string only repeat its type.
  if (anyOf !== undefined && anyOf.length > 0 && schema['x-kubernetes-int-or-string'] !== true) {
    const results = anyOf.map(errorsOf)
    if (!results.some((found) => found.length === 0)) {
      errors.push(combinationError(`"${path}" must validate at least one schema (anyOf)`), ...(results[0] ?? []))
    }
  }
  if (oneOf !== undefined && oneOf.length > 0) errors.push(...oneOfErrors(oneOf.map(errorsOf), path))
  if (allOf !== undefined && allOf.length > 0) {
    const results = allOf.map(errorsOf).filter((found) => found.length > 0)
    if (results.length > 0) {
      const none = results.length === allOf.length ? '. None validated' : ''
      errors.push(...results.flat(), combinationError(`"${path}" must validate all the schemas (allOf)${none}`))
    }
  }
  if (not !== undefined && errorsOf(not).length === 0) {
    errors.push(combinationError(`"${path}" must not validate the schema (not)`))
  }
}

function oneOfErrors(results: readonly FieldError[][], path: string): FieldError[] {
  const valid = results.filter((found) => found.length === 0).length
  if (valid === 1) return []
  const detail = `"${path}" must validate one and only one schema (oneOf). Found`
  return valid === 0
    ? [combinationError(`${detail} none valid`), ...(results[0] ?? [])]
    : [combinationError(`${detail} ${valid} valid alternatives`)]
}
