/** Small core kinds: namespaces, secrets, config maps, service accounts, claims, events. */
import { isJsonObject, type JsonObject, jsonEqual, objectAt } from '../json.ts'
import type { FieldError } from '../status-error.ts'
import type { KindStrategy } from './kind-strategy.ts'
import { ensureObject, objectsIn, setDefault } from './pod-defaults.ts'

export const namespaceStrategy: KindStrategy = {
  names: 'label',
  returnsDeletedObject: true,
  default(object) {
    const name = objectAt(object, 'metadata').name
    // The label lets selectors pick a namespace by its name.
    if (typeof name === 'string' && name !== '') {
      ensureObject(ensureObject(object, 'metadata'), 'labels')['kubernetes.io/metadata.name'] = name
    }
  },
  prepareForCreate(object) {
    const spec = ensureObject(object, 'spec')
    spec.finalizers = ['kubernetes']
    object.status = { phase: 'Active' }
  },
  prepareForUpdate(object, old) {
    // Only the finalize subresource may take the finalizer away.
    const before = objectAt(old, 'spec').finalizers
    if (before !== undefined) object.spec = { ...objectAt(object, 'spec'), finalizers: before }
  },
}

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

export const configMapStrategy: KindStrategy = {
  validate: (object, old) => [...validateDataKeys(object, ['data', 'binaryData']), ...validateImmutable(object, old)],
}

export const secretStrategy: KindStrategy = {
  default(object) {
    setDefault(object, 'type', 'Opaque')
    const plain = object.stringData
    if (!isJsonObject(plain)) return
    // stringData is write-only: it is folded into data and never stored.
    const data = isJsonObject(object.data) ? object.data : {}
    for (const [key, value] of Object.entries(plain)) data[key] = Buffer.from(String(value)).toString('base64')
    object.data = data
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

export const serviceAccountStrategy: KindStrategy = { returnsDeletedObject: true }

export const nodeStrategy: KindStrategy = { keepsStatusOnCreate: true }

export const claimStrategy: KindStrategy = {
  returnsDeletedObject: true,
  default(object) {
    setDefault(ensureObject(object, 'spec'), 'volumeMode', 'Filesystem')
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
  },
}

export const volumeStrategy: KindStrategy = {
  returnsDeletedObject: true,
  default(object) {
    const spec = ensureObject(object, 'spec')
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain')
    setDefault(spec, 'volumeMode', 'Filesystem')
    if (isJsonObject(spec.hostPath)) spec.hostPath.type ??= ''
  },
  prepareForCreate(object) {
    object.status = { phase: 'Pending' }
  },
}

/** Two groups serve events; both look at one collection, in the core form. */
export const eventStrategy: KindStrategy = { createOnUpdate: true }

export const leaseStrategy: KindStrategy = { createOnUpdate: true }

export const endpointsStrategy: KindStrategy = {
  createOnUpdate: true,
  default(object) {
    for (const subset of objectsIn(object, 'subsets')) {
      for (const port of objectsIn(subset, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
  },
}
