/** Rules for `metadata` that apply to every kind. */

import { arrayAt, isJsonObject, type JsonObject, jsonEqual, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import type { ResourceInfo } from '../registry/resource-info.ts'
import type { FieldError } from '../status-error.ts'

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'
const MAX_GENERATED_PREFIX = 58
const MAX_ANNOTATION_BYTES = 256 * 1024

/** `metadata` of a draft, created when absent; it may be modified. */
export function metadataOf(object: JsonObject): JsonObject {
  if (isJsonObject(object.metadata)) return object.metadata
  const metadata: JsonObject = {}
  object.metadata = metadata
  return metadata
}

/** The name of an object; empty when it has none yet. */
export function nameOf(object: JsonObject): string {
  return isJsonObject(object.metadata) ? (stringAt(object.metadata, 'name') ?? '') : ''
}

/** The namespace of an object; `undefined` when it has none. */
export function namespaceOf(object: JsonObject): string | undefined {
  const namespace = isJsonObject(object.metadata) ? stringAt(object.metadata, 'namespace') : undefined
  return namespace === '' ? undefined : namespace
}

/** A random UUID (version 4) from the injected source. */
export function newUid(random: () => number): string {
  let text = ''
  for (let index = 0; index < 32; index += 1) {
    if (index === 8 || index === 12 || index === 16 || index === 20) text += '-'
    const digit = index === 12 ? 4 : index === 16 ? 8 + Math.floor(random() * 4) : Math.floor(random() * 16)
    text += digit.toString(16)
  }
  return text
}

/** `prefix` with five random characters, for `generateName`. */
export function generateName(prefix: string, random: () => number): string {
  let suffix = ''
  for (let index = 0; index < 5; index += 1) suffix += suffixAlphabet[Math.floor(random() * suffixAlphabet.length)]
  return prefix.slice(0, MAX_GENERATED_PREFIX) + suffix
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const serviceLabel = /^[a-z]([-a-z0-9]*[a-z0-9])?$/

// The messages are the API server's, which people search for and tools match.
const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const serviceText =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

/** Errors of `name` for a kind with these rules; empty when it is valid. */
export function nameProblems(name: string, rule: KindStrategy['names'] = 'subdomain'): string[] {
  switch (rule) {
    case 'path-segment':
      if (name === '.' || name === '..') return [`may not be '${name}'`]
      return ['/', '%'].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`)
    case 'label':
    case 'service': {
      const problems = name.length > 63 ? ['must be no more than 63 characters'] : []
      const isService = rule === 'service'
      if ((isService ? serviceLabel : label).test(name)) return problems
      const hasOnlyDots = !isService && subdomain.test(name)
      problems.push(isService ? serviceText : hasOnlyDots ? 'must not contain dots' : labelText)
      return problems
    }
    case 'subdomain': {
      const problems = name.length > 253 ? ['must be no more than 253 characters'] : []
      if (!subdomain.test(name)) problems.push(subdomainText)
      return problems
    }
  }
}

const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

function invalidValue(field: string, value: unknown, why: string): FieldError {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}` }
}

/** Errors of a qualified name such as `example.com/part`; empty when it is valid. */
export function qualifiedNameProblems(key: string): string[] {
  const parts = key.split('/')
  if (parts.length > 2) {
    return [
      `a valid label key ${qualifiedText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.at(-1) ?? ''
  const problems: string[] = []
  if (parts.length === 2) {
    const [prefix = ''] = parts
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...nameProblems(prefix).map((why) => `prefix part ${why}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (name.length > 63) problems.push('name part must be no more than 63 bytes')
  if (!qualifiedName.test(name)) problems.push(`name part ${qualifiedText}`)
  return problems
}

/** Errors of a label value; empty when it is valid. */
export function labelValueProblems(value: string): string[] {
  const problems = value.length > 63 ? ['must be no more than 63 bytes'] : []
  if (!labelValue.test(value)) problems.push(labelValueText)
  return problems
}

/** Validates `metadata` of an object about to be stored; `old` is absent on create. */
export function validateMetadata(
  info: ResourceInfo,
  strategy: KindStrategy,
  object: JsonObject,
  old: JsonObject | undefined,
): FieldError[] {
  const metadata = metadataOf(object)
  const errors: FieldError[] = []
  const name = stringAt(metadata, 'name') ?? ''
  if (old === undefined) {
    const prefix = stringAt(metadata, 'generateName') ?? ''
    if (prefix !== '') {
      // The dash before the random part is not the end of the name.
      const complete = prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -1)}a` : prefix
      for (const why of nameProblems(complete, strategy.names)) {
        errors.push(invalidValue('metadata.generateName', prefix, why))
      }
    }
    if (name === '') {
      const message = 'Required value: name or generateName is required'
      errors.push({ field: 'metadata.name', reason: 'FieldValueRequired', message })
    } else {
      for (const why of nameProblems(name, strategy.names)) errors.push(invalidValue('metadata.name', name, why))
    }
    const namespace = stringAt(metadata, 'namespace') ?? ''
    if (info.namespaced) {
      for (const why of nameProblems(namespace, 'label'))
        errors.push(invalidValue('metadata.namespace', namespace, why))
    }
  } else errors.push(...validateMetadataUpdate(metadata, isJsonObject(old.metadata) ? old.metadata : {}))
  errors.push(...validateLabels(metadata), ...validateAnnotations(metadata))
  errors.push(...validateFinalizers(metadata, takesAnyFinalizer(info)), ...validateOwners(metadata))
  // On update the real server validates metadata twice, once for all kinds and once for the kind, and reports errors
  // twice.
  return old === undefined ? errors : [...errors, ...errors]
}

function validateMetadataUpdate(metadata: JsonObject, old: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const fixed = ['name', 'namespace', 'uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']
  for (const field of fixed) {
    if (jsonEqual(metadata[field] ?? null, old[field] ?? null)) continue
    errors.push(invalidValue(`metadata.${field}`, metadata[field] ?? '', 'field is immutable'))
  }
  if (old.deletionTimestamp !== undefined) {
    const before = arrayAt(old, 'finalizers')
    const added = arrayAt(metadata, 'finalizers').filter((finalizer) => !before.includes(finalizer))
    if (added.length > 0) {
      const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ')
      errors.push({
        field: 'metadata.finalizers',
        reason: 'FieldValueForbidden',
        message: `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
      })
    }
  }
  return errors
}

function validateLabels(metadata: JsonObject): FieldError[] {
  if (!isJsonObject(metadata.labels)) return []
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(metadata.labels)) {
    for (const why of qualifiedNameProblems(key)) errors.push(invalidValue('metadata.labels', key, why))
    const text = String(value)
    for (const why of labelValueProblems(text)) errors.push(invalidValue('metadata.labels', text, why))
  }
  return errors
}

function validateAnnotations(metadata: JsonObject): FieldError[] {
  if (!isJsonObject(metadata.annotations)) return []
  const errors: FieldError[] = []
  let bytes = 0
  for (const [key, value] of Object.entries(metadata.annotations)) {
    for (const why of qualifiedNameProblems(key.toLowerCase())) {
      errors.push(invalidValue('metadata.annotations', key, why))
    }
    bytes += key.length + Buffer.byteLength(String(value))
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    const message = `Too long: may not be more than ${MAX_ANNOTATION_BYTES} bytes`
    errors.push({ field: 'metadata.annotations', reason: 'FieldValueTooLong', message })
  }
  return errors
}

const plainFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

const groupsWithAnyFinalizer = new Set(['admissionregistration.k8s.io', 'apiextensions.k8s.io', 'coordination.k8s.io'])

/** Custom resources and a few groups accept finalizers without a domain, such as that of CustomResourceDefinitions. */
function takesAnyFinalizer(info: ResourceInfo): boolean {
  return info.custom || groupsWithAnyFinalizer.has(info.group)
}

function validateFinalizers(metadata: JsonObject, takesAny: boolean): FieldError[] {
  const errors: FieldError[] = []
  const finalizers = arrayAt(metadata, 'finalizers')
  for (const [index, finalizer] of finalizers.entries()) {
    const text = String(finalizer)
    const field = `metadata.finalizers[${index}]`
    const problems = qualifiedNameProblems(text)
    for (const why of problems) errors.push(invalidValue('metadata.finalizers', text, why))
    if (!takesAny && !text.includes('/') && !plainFinalizers.has(text)) {
      errors.push(invalidValue(field, text, 'name is neither a standard finalizer name nor is it fully qualified'))
    }
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const why = 'finalizer orphan and foregroundDeletion cannot be both set'
    errors.push(invalidValue('metadata.finalizers', finalizers, why))
  }
  return errors
}

/** With more, the errors of an object of a megabyte would exhaust the memory. */
const MAX_CONTROLLER_ERRORS = 3

function validateOwners(metadata: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  const owners = arrayAt(metadata, 'ownerReferences').filter(isJsonObject)
  for (const owner of owners) {
    for (const field of ['apiVersion', 'kind', 'name', 'uid']) {
      if ((stringAt(owner, field) ?? '') !== '') continue
      const why = field === 'apiVersion' ? 'version must not be empty' : 'must not be empty'
      errors.push(invalidValue(`metadata.ownerReferences.${field}`, '', why))
    }
    if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
      const why = '/v1, Kind=Event is disallowed from being an owner'
      errors.push(invalidValue('metadata.ownerReferences', owner, why))
    }
  }
  const controllers = owners.filter(({ controller }) => controller === true)
  const [first, ...others] = controllers.map(({ kind, name }) => `${String(kind)}/${String(name)}`)
  // Each error shows the whole list.
  for (const other of others.slice(0, MAX_CONTROLLER_ERRORS)) {
    const found = `Found "true" in references for ${first} and ${other}`
    const why = `Only one reference can have Controller set to true. ${found}`
    errors.push(invalidValue('metadata.ownerReferences', metadata.ownerReferences, why))
  }
  return errors
}
