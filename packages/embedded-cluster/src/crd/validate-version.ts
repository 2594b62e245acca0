/** Validates one version of a CustomResourceDefinition: schema, columns, subresources, selectable fields. */

import { isJsonObject, type JsonObject, stringAt } from '../json.ts'
import { duplicate, invalid, required, tooMany } from '../schema/field-error.ts'
import type { Schema } from '../schema/schema.ts'
import { checkStructural } from '../schema/structural.ts'
import type { FieldError } from '../status-error.ts'
import type { DefinitionVersion } from './definition.ts'

/** The field paths for errors; `undefined` where the errors are reported for another version with the same content. */
export interface VersionPaths {
  readonly schema: string | undefined
  readonly subresources: string | undefined
  readonly columns: string | undefined
  readonly selectable: string | undefined
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']
const MAX_WARNING_LENGTH = 256
const MAX_SELECTABLE_FIELDS = 8

/** Errors of one version; `own` is its path in `spec.versions`. */
export function validateVersion(version: DefinitionVersion, own: string, paths: VersionPaths): FieldError[] {
  const errors = validateDeprecation(version, `${own}.deprecationWarning`)
  if (paths.schema !== undefined && version.schema !== undefined) {
    errors.push(...validateDefinitionSchema(version.schema, paths.schema))
  }
  if (paths.subresources !== undefined) errors.push(...validateSubresources(version.subresources, paths.subresources))
  if (paths.columns !== undefined) {
    for (const [index, column] of version.printerColumns.entries()) {
      errors.push(...validateColumn(column, `${paths.columns}[${index}]`))
    }
  }
  if (paths.selectable !== undefined) errors.push(...validateSelectableFields(version, paths.selectable))
  return errors
}

function validateDeprecation(version: DefinitionVersion, field: string): FieldError[] {
  const warning = version.deprecationWarning
  if (warning === undefined) return []
  if (!version.deprecated) return [invalid(field, warning, 'can only be set for deprecated versions')]
  if (warning === '') return [invalid(field, warning, 'must not be an empty string')]
  if ([...warning].length > MAX_WARNING_LENGTH) {
    return [invalid(field, warning, `must be <= ${MAX_WARNING_LENGTH} characters long`)]
  }
  const unprintable = [...warning].findIndex((letter) => /[\p{C}\p{Zl}\p{Zp}]/u.test(letter))
  if (unprintable < 0) return []
  const why = `must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`
  return [invalid(field, warning, why)]
}

function validateColumn(column: JsonObject, field: string): FieldError[] {
  const errors: FieldError[] = []
  const types = `must be one of ${columnTypes.join(',')}`
  const type = stringAt(column, 'type') ?? ''
  const format = stringAt(column, 'format') ?? ''
  if ((stringAt(column, 'name') ?? '') === '') errors.push(required(`${field}.name`))
  if (type === '') errors.push(required(`${field}.type`, types))
  else if (!columnTypes.includes(type)) errors.push(invalid(`${field}.type`, type, types))
  if (format !== '' && !columnFormats.includes(format)) {
    errors.push(invalid(`${field}.format`, format, `must be one of ${columnFormats.join(',')}`))
  }
  errors.push(...validateSimplePath(column.jsonPath, `${field}.JSONPath`))
  return errors
}

function validateSubresources(subresources: JsonObject, field: string): FieldError[] {
  const { scale } = subresources
  if (!isJsonObject(scale)) return []
  const errors: FieldError[] = []
  const check = (name: string, roots: readonly string[], isRequired: boolean) => {
    const path = `${field}.scale.${name}`
    const value = stringAt(scale, name) ?? ''
    if (value === '' && !isRequired) return
    const problems = validateSimplePath(value, path)
    if (problems.length === 0 && !roots.some((root) => value.startsWith(`${root}.`))) {
      const where = roots.length === 1 ? roots[0] : `either ${roots.join(' or ')}`
      problems.push(invalid(path, value, `should be a json path under ${where}`))
    }
    errors.push(...problems)
  }
  check('specReplicasPath', ['.spec'], true)
  check('statusReplicasPath', ['.status'], true)
  check('labelSelectorPath', ['.spec', '.status'], false)
  return errors
}

function validateSimplePath(value: unknown, field: string): FieldError[] {
  if (typeof value !== 'string' || value === '') return [required(field)]
  return value.startsWith('.') ? [] : [invalid(field, value, 'must be a simple json path starting with .')]
}

function validateSelectableFields(version: DefinitionVersion, field: string): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, entry] of version.selectableFields.entries()) {
    const path = `${field}[${index}].jsonPath`
    const value = stringAt(entry, 'jsonPath') ?? ''
    if (value === '') errors.push(required(path))
    else if (seen.has(value)) errors.push(duplicate(path, value))
    else errors.push(...validateSelectableField(version.schema ?? {}, value, path))
    seen.add(value)
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) {
    errors.push(tooMany(field, seen.size, MAX_SELECTABLE_FIELDS))
  }
  return errors
}

function validateSelectableField(schema: JsonObject, value: string, path: string): FieldError[] {
  const wrong = (why: string) => [invalid(path, value, `is an invalid path: ${why}`)]
  if (!value.startsWith('.')) return wrong(`expected [ or . but got: ${value.split('.')[0]}`)
  if (/\[\d+\]|\[\*\]/.test(value)) return wrong('array notation is not allowed')
  let current: JsonObject = schema
  for (const segment of value.slice(1).split('.')) {
    const properties = isJsonObject(current.properties) ? current.properties : {}
    const next = Object.hasOwn(properties, segment) ? properties[segment] : undefined
    if (!isJsonObject(next) || (current === schema && segment === 'metadata')) {
      return wrong('does not refer to a valid field')
    }
    current = next
  }
  if (['string', 'boolean', 'integer'].includes(stringAt(current, 'type') ?? '')) return []
  const why =
    'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
  return [invalid(path, value, why)]
}

/** Errors of a version's `openAPIV3Schema`, reported under `field`. Rules are checked by the rule engine. */
function validateDefinitionSchema(schema: JsonObject, field: string): FieldError[] {
  // The cast is safe because this function validates the schema.
  return checkStructural(schema as Schema, field)
}
