/** Small core kinds: config maps, secrets, service accounts, events, endpoints, limits and quotas. */
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import { ensureObject, objectsIn, setDefault } from './draft-fields.ts'
import type { KindStrategy } from './kind-strategy.ts'

function validateImmutable(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  if (old?.immutable !== true) return []
  const errors: FieldError[] = []
  const refuse = (field: string, message: string) =>
    errors.push({ field, reason: 'FieldValueForbidden', message: `Forbidden: ${message}` })
  const why = 'field is immutable when `immutable` is set'
  if (object.immutable !== true) refuse('immutable', why)
  for (const field of ['data', 'binaryData']) {
    if (!jsonEqual(object[field], old[field])) refuse(field, why)
  }
  return errors
}

const dataKey = /^[-._a-zA-Z0-9]+$/

function validateDataKeys(object: JsonObject, fields: readonly string[]): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const field of fields) {
    for (const key of Object.keys(objectAt(object, field))) {
      if (dataKey.test(key) && key !== '.' && !key.startsWith('..')) continue
      const why =
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
      const message = `Invalid value: ${JSON.stringify(key)}: ${why}`
      errors.push({ field: `${field}[${key}]`, reason: 'FieldValueInvalid', message })
    }
  }
  return errors
}

/** The strategy of the kind ConfigMap. */
export const configMapStrategy: KindStrategy = {
  validate: (object, old) => [...validateDataKeys(object, ['data', 'binaryData']), ...validateImmutable(object, old)],
}

/** The strategy of the kind Secret. */
export const secretStrategy: KindStrategy = {
  default(object) {
    setDefault(object, 'type', 'Opaque')
    if (!isJsonObject(object.stringData)) return
    // stringData is write-only: it is folded into data and never stored.
    const data = ensureObject(object, 'data')
    for (const [key, value] of Object.entries(object.stringData)) {
      data[key] = Buffer.from(String(value)).toString('base64')
    }
    delete object.stringData
  },
  validate(object, old) {
    const errors = [...validateDataKeys(object, ['data']), ...validateImmutable(object, old)]
    if (old !== undefined && object.type !== old.type) {
      const message = `Invalid value: ${JSON.stringify(object.type)}: field is immutable`
      errors.push({ field: 'type', reason: 'FieldValueInvalid', message })
    }
    return errors
  },
}

/** The strategy of the kind ServiceAccount. */
export const serviceAccountStrategy: KindStrategy = { returnsDeletedObject: true }

/** Two groups serve events; both look at one collection, in the core form. */
export const eventStrategy: KindStrategy = { createOnUpdate: true }

/** The strategy of the kind Endpoints. */
export const endpointsStrategy: KindStrategy = {
  createOnUpdate: true,
  default(object) {
    for (const subset of objectsIn(object, 'subsets')) {
      for (const port of objectsIn(subset, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
  },
}

/** The strategy of the kind LimitRange. */
export const limitRangeStrategy: KindStrategy = {
  createOnUpdate: true,
  default(object) {
    for (const item of objectsIn(objectAt(object, 'spec'), 'limits')) {
      if (item.type === 'Container') completeLimits(item)
    }
  },
}

/** Limits default to the maximum, and requests to the limits or else to the minimum. */
function completeLimits(item: JsonObject): void {
  const limits = { ...objectAt(item, 'max'), ...objectAt(item, 'default') }
  const requests = { ...objectAt(item, 'min'), ...limits, ...objectAt(item, 'defaultRequest') }
  if (Object.keys(limits).length > 0) item.default = limits
  if (Object.keys(requests).length > 0) item.defaultRequest = requests
}

/** The strategy of the kind ResourceQuota. */
export const resourceQuotaStrategy: KindStrategy = { returnsDeletedObject: true }
