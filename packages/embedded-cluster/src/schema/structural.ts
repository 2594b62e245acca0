/**
 * Validates that the schema of a CustomResourceDefinition is structural: every part of an object has one declared type.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { forbidden, invalid, notSupported, required } from './field-error.ts'
import { PatternChecker } from './patterns.ts'
import { prune, unknownFields } from './prune.ts'
import type { Schema } from './schema.ts'
import { checkListType, checkMapType } from './structural-lists.ts'
import { checkLogic } from './structural-logic.ts'
import { validateAt } from './validate.ts'

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const unsupportedKeywords = ['$ref', 'definitions', 'dependencies', 'patternProperties', 'additionalItems', 'id']

/** The context of a schema determines the message for a missing type. */
type Role = 'root' | 'field' | 'entry' | 'item'

const missingType: Readonly<Record<Role, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  entry: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
}

/**
 * Every error that the API server would report for the schema.
 *
 * *Assumptions*: the definition has passed the type check of built-in kinds. CEL rules are checked by their compiler.
 *
 * @param path the path of the schema in the definition
 */
export function checkStructural(schema: Schema, path = 'spec.validation.openAPIV3Schema'): FieldError[] {
  const errors: FieldError[] = []
  // A schema read from a definition may contain keywords that the type does not have; they are checked here.
  if (namesDialect(schema as JsonObject)) errors.push(invalid(path, '', "OpenAPIV3Schema 'schema' is not supported"))
  checkSchema(schema as JsonObject, path, 'root', errors, new PatternChecker())
  checkRootMetadata(schema as JsonObject, path, errors)
  return errors
}

function checkSchema(
  schema: JsonObject,
  path: string,
  role: Role,
  errors: FieldError[],
  patterns: PatternChecker,
): void {
  checkKeywords(schema, path, errors)
  checkPattern(schema, path, errors, patterns)
  checkType(schema, path, role, errors)
  checkExtensions(schema, path, errors)
  checkListType(schema, path, errors)
  checkMapType(schema, path, errors)
  checkLogic(schema, path, errors)
  checkDefault(schema, path, role, errors)
  for (const [name, field] of entriesOf(schema.properties)) {
    checkSchema(field, `${path}.properties[${name}]`, 'field', errors, patterns)
  }
  if (isJsonObject(schema.items)) checkSchema(schema.items, `${path}.items`, 'item', errors, patterns)
  if (isJsonObject(schema.additionalProperties)) {
    checkSchema(schema.additionalProperties, `${path}.additionalProperties`, 'entry', errors, patterns)
  }
}

function entriesOf(value: JsonValue | undefined): [string, JsonObject][] {
  if (!isJsonObject(value)) return []
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
}

/** Whether `$schema` occurs anywhere; the API server reports it at the root. */
function namesDialect(schema: JsonObject): boolean {
  if (schema.$schema !== undefined) return true
  const parts = [schema.items, schema.additionalProperties, ...entriesOf(schema.properties).map(([, field]) => field)]
  return parts.some((part) => isJsonObject(part) && namesDialect(part))
}

function checkKeywords(schema: JsonObject, path: string, errors: FieldError[]): void {
  for (const keyword of unsupportedKeywords) {
    if (schema[keyword] !== undefined) errors.push(forbidden(`${path}.${keyword}`, `${keyword} is not supported`))
  }
  if (schema.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbidden(`${path}.uniqueItems`, detail))
  }
  if (Array.isArray(schema.items)) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'))
  }
  if (isJsonObject(schema.properties) && isJsonObject(schema.additionalProperties)) {
    errors.push(forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'))
  }
}

function checkPattern(schema: JsonObject, path: string, errors: FieldError[], checker: PatternChecker): void {
  const { pattern } = schema
  if (typeof pattern !== 'string') return
  const problem = checker.problemOf(pattern)
  if (problem === undefined) return
  errors.push(invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${problem}`))
}

function checkType(schema: JsonObject, path: string, role: Role, errors: FieldError[]): void {
  const { type } = schema
  if (type === undefined || type === '') {
    const isFree =
      schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
    const isSpecified = schema.$ref === undefined
    if ((!isFree || role === 'root') && isSpecified) errors.push(required(`${path}.type`, missingType[role]))
    return
  }
  if (typeof type !== 'string' || !types.includes(type)) {
    errors.push(notSupported(`${path}.type`, type, types))
    return
  }
  if (role === 'root' && type !== 'object') {
    errors.push(invalid(`${path}.type`, type, 'must be object at the root'))
  }
  if (type === 'array' && schema.items === undefined) errors.push(required(`${path}.items`, 'must be specified'))
}

function checkExtensions(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'))
  }
  if (schema['x-kubernetes-embedded-resource'] !== true) return
  const hasFields = isJsonObject(schema.properties) && Object.keys(schema.properties).length > 0
  if (!hasFields && schema['x-kubernetes-preserve-unknown-fields'] !== true) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(required(`${path}.properties`, detail))
  }
  if (schema.type !== undefined && schema.type !== 'object') {
    errors.push(invalid(`${path}.type`, schema.type, 'must be object if x-kubernetes-embedded-resource is true'))
  }
  checkTypeMeta(schema, path, errors)
}

/** apiVersion and kind must be strings and metadata an object. */
function checkTypeMeta(schema: JsonObject, path: string, errors: FieldError[]): void {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  for (const [name, type] of [
    ['apiVersion', 'string'],
    ['kind', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const field = properties[name]
    if (!isJsonObject(field) || field.type === undefined || field.type === type) continue
    errors.push(invalid(`${path}.properties[${name}].type`, field.type, `must be ${type}`))
  }
}

function checkRootMetadata(schema: JsonObject, path: string, errors: FieldError[]): void {
  checkTypeMeta(schema, path, errors)
  const metadata = isJsonObject(schema.properties) ? schema.properties.metadata : undefined
  if (!isJsonObject(metadata) || metadata.type !== 'object') return
  const metadataPath = `${path}.properties[metadata]`
  const { type: _, description: __, properties, ...rest } = metadata
  const fields = entriesOf(properties)
  if (Object.keys(rest).length > 0 || fields.some(([name]) => name !== 'name' && name !== 'generateName')) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
    errors.push(forbidden(metadataPath, detail))
  }
  for (const [name, field] of fields) {
    if (field.default !== undefined) {
      errors.push(forbidden(`${metadataPath}.properties[${name}].default`, 'must not be set in top-level metadata'))
    }
  }
}

/** A default must itself be valid, without applying defaults inside it. Defaults of map entries are not validated. */
function checkDefault(schema: JsonObject, path: string, role: Role, errors: FieldError[]): void {
  const value = schema.default
  if (value === undefined || value === null || role === 'entry') return
  const defaultPath = `${path}.default`
  // Read from a definition whose keywords have been validated above.
  const type = schema as Schema
  const unknown = role === 'root' && isJsonObject(value) ? prune(type, value).unknown : unknownFields(type, value)
  if (unknown.length > 0) {
    errors.push(invalid(defaultPath, value, 'must not have unknown fields'))
    return
  }
  for (const error of validateAt(type, value)) {
    errors.push({ ...error, field: error.field === '' ? defaultPath : `${defaultPath}.${error.field}` })
  }
  if (role !== 'root' || !isJsonObject(value)) return
  for (const name of ['apiVersion', 'kind']) {
    if (value[name] === undefined) errors.push(required(`${defaultPath}.${name}`))
  }
}
