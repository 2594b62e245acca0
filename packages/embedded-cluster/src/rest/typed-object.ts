/**
 * Built-in objects as the real server's typed decoder leaves them: values of the wrong type are refused, nulls and empty
 * optional lists and maps are absent, quantities have their canonical form.
 */
import { canonicalQuantity } from '../builtin/quantity.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { Schema } from '../schema/schema.ts'
import { badRequest } from './api-errors.ts'

/** `object` in the form it is stored; shares what did not change. Throws 400 for a value of the wrong type. */
export function typedObject(info: ResourceInfo, object: JsonObject): JsonObject {
  if (info.custom || info.schema === undefined) return object
  const { kind, version } = info
  const refuse = (path: string, value: JsonValue, expected: string): never => {
    const subject = `${kind} in version "${version}" cannot be handled as a ${kind}`
    throw badRequest(
      `${subject}: json: cannot unmarshal ${jsonType(value)} into Go struct field ${kind}.${path} of type ${expected}`,
    )
  }
  return typedFields(info.schema, object, '', refuse)
}

type Refuse = (path: string, value: JsonValue, expected: string) => never

function typedValue(schema: Schema, value: JsonValue, path: string, refuse: Refuse): JsonValue {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(schema, value, path, refuse)
  switch (schema.type) {
    case 'object':
      if (!isJsonObject(value)) return refuse(path, value, 'map[string]interface {}')
      return typedFields(schema, value, path, refuse)
    case 'array':
      if (!Array.isArray(value)) return refuse(path, value, '[]interface {}')
      return typedList(schema, value, path, refuse)
    case 'string':
      return typeof value === 'string' ? value : refuse(path, value, 'string')
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse(path, value, 'bool')
    case 'integer': {
      const type = schema.format === 'int32' ? 'int32' : 'int64'
      return typeof value === 'number' && Number.isInteger(value) ? value : refuse(path, value, type)
    }
    case 'number':
      return typeof value === 'number' ? value : refuse(path, value, 'float64')
    default:
      return value
  }
}

function intOrString(schema: Schema, value: JsonValue, path: string, refuse: Refuse): JsonValue {
  const isQuantity = schema.format === 'quantity'
  if (typeof value !== 'string' && typeof value !== 'number') {
    return refuse(path, value, isQuantity ? 'resource.Quantity' : 'intstr.IntOrString')
  }
  if (!isQuantity) return value
  const canonical = canonicalQuantity(String(value))
  if (canonical === undefined) {
    throw badRequest(
      `${path}: unable to parse quantity's value: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
    )
  }
  return canonical
}

function typedList(schema: Schema, list: JsonValue[], path: string, refuse: Refuse): JsonValue[] {
  const { items } = schema
  if (items === undefined) return list
  let changed: JsonValue[] | undefined
  for (const [index, item] of list.entries()) {
    if (item === null) continue
    const typed = typedValue(items, item, path, refuse)
    if (typed === item) continue
    changed ??= [...list]
    changed[index] = typed
  }
  return changed ?? list
}

function typedFields(schema: Schema, object: JsonObject, path: string, refuse: Refuse): JsonObject {
  const { properties, additionalProperties } = schema
  let changed: JsonObject | undefined
  for (const [field, value] of Object.entries(object)) {
    if (value === undefined) continue
    const declared = properties !== undefined && Object.hasOwn(properties, field) ? properties[field] : undefined
    const fieldSchema = declared ?? (isSchema(additionalProperties) ? additionalProperties : undefined)
    if (fieldSchema === undefined) continue
    const isKept = value !== null && !(declared !== undefined && isDroppedWhenEmpty(schema, field, declared, value))
    const typed = isKept ? typedValue(fieldSchema, value, path === '' ? field : `${path}.${field}`, refuse) : undefined
    if (typed === value) continue
    changed ??= { ...object }
    if (typed !== undefined) changed[field] = typed
    else if (declared === undefined) changed[field] = ''
    else delete changed[field]
  }
  return changed ?? object
}

function isSchema(value: Schema | boolean | undefined): value is Schema {
  return typeof value === 'object'
}

/** Optional lists and maps without entries do not survive the real server's typed form; structs do. */
function isDroppedWhenEmpty(parent: Schema, field: string, schema: Schema, value: JsonValue): boolean {
  if (parent.required?.includes(field) === true) return false
  if (Array.isArray(value)) return value.length === 0 && schema.type === 'array'
  const isMap = isSchema(schema.additionalProperties) && schema.properties === undefined
  return isMap && isJsonObject(value) && Object.keys(value).length === 0
}

function jsonType(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return value !== null && typeof value === 'object' ? 'object' : typeof value
}
