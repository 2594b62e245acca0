/** Validates `x-kubernetes-list-type` and `x-kubernetes-map-type` in the schema of a definition. */
import { isJsonObject, type JsonObject } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { forbidden, invalid, notSupported, required } from './field-error.ts'

/** Adds the errors of a list's type, keys and items. */
export function checkListType(schema: JsonObject, path: string, errors: FieldError[]): void {
  const listType = schema['x-kubernetes-list-type']
  const keys = Array.isArray(schema['x-kubernetes-list-map-keys']) ? schema['x-kubernetes-list-map-keys'] : []
  if (keys.length > 0 && listType !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(
      listType === undefined
        ? required(`${path}.x-kubernetes-list-type`, detail)
        : invalid(`${path}.x-kubernetes-list-type`, listType, detail),
    )
  }
  if (listType === undefined) return
  if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, listType, ['atomic', 'set', 'map']))
    return
  }
  checkContainerType(schema, path, 'array', 'x-kubernetes-list-type', errors)
  const items = isJsonObject(schema.items) ? schema.items : undefined
  if (items === undefined || listType === 'atomic') return
  if (items.nullable === true) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when x-kubernetes-list-type is ${listType}`))
  }
  if (listType === 'set') checkSetItems(items, path, errors)
  else checkKeys(keys, items, path, errors)
}

/** Adds the errors of a map's type. */
export function checkMapType(schema: JsonObject, path: string, errors: FieldError[]): void {
  const mapType = schema['x-kubernetes-map-type']
  if (mapType === undefined) return
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular']))
    return
  }
  checkContainerType(schema, path, 'object', 'x-kubernetes-map-type', errors)
}

function checkContainerType(
  { type }: JsonObject,
  path: string,
  expected: string,
  extension: string,
  errors: FieldError[],
): void {
  if (type === expected) return
  const detail = `must be ${expected} if ${extension} is specified`
  errors.push(
    type === undefined || type === '' ? required(`${path}.type`, detail) : invalid(`${path}.type`, type, detail),
  )
}

/** Members of a set are compared as a whole, so they must be atomic. */
function checkSetItems(items: JsonObject, path: string, errors: FieldError[]): void {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
  const mapType = items['x-kubernetes-map-type']
  if (items.type === 'object' && mapType !== 'atomic') {
    errors.push(invalid(`${path}.items.x-kubernetes-map-type`, mapType, detail))
  }
  const listType = items['x-kubernetes-list-type']
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic') {
    errors.push(invalid(`${path}.items.x-kubernetes-list-type`, listType, detail))
  }
}

function checkKeys(keys: readonly unknown[], items: JsonObject, path: string, errors: FieldError[]): void {
  const keysPath = `${path}.x-kubernetes-list-map-keys`
  const names = keys.map(String)
  if (names.length === 0) {
    errors.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'))
    return
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalid(`${path}.items.type`, items.type, detail))
    return
  }
  if (new Set(names).size < names.length) errors.push(invalid(keysPath, names, 'must not contain duplicate entries'))
  const properties = isJsonObject(items.properties) ? items.properties : {}
  if (names.some((name) => !isJsonObject(properties[name]))) {
    errors.push(invalid(keysPath, names, 'entries must all be names of item properties'))
  }
  const requiredFields: readonly unknown[] = Array.isArray(items.required) ? items.required : []
  for (const name of new Set(names)) {
    const key = properties[name]
    if (isJsonObject(key)) checkKey(key, requiredFields.includes(name), `${path}.items.properties[${name}]`, errors)
  }
}

function checkKey(key: JsonObject, isRequired: boolean, path: string, errors: FieldError[]): void {
  if (key.type === 'object' || key.type === 'array') {
    errors.push(
      invalid(`${path}.type`, key.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"),
    )
  }
  if (key.nullable === true) {
    const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'
    errors.push(forbidden(`${path}.nullable`, detail))
  }
  if (!isRequired && (key.default ?? undefined) === undefined) {
    const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property'
    errors.push(required(`${path}.default`, detail))
  }
}
