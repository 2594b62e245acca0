/** ConfigMaps and Secrets. */
import { type JsonObject, jsonEqual, objectAt } from '../../json.ts'
import type { FieldError } from '../../status-error.ts'
import { dataKeyProblems, IMMUTABLE } from './formats.ts'
import { Problems, textAt } from './problems.ts'

const MAX_BYTES = 1024 * 1024

function validateImmutable(problems: Problems, object: JsonObject, old: JsonObject | undefined): void {
  if (old?.immutable !== true) return
  const why = 'field is immutable when `immutable` is set'
  if (object.immutable !== true) problems.forbidden('immutable', why)
  for (const field of ['data', 'binaryData']) {
    if (!jsonEqual(object[field], old[field])) problems.forbidden(field, why)
  }
}

/** Validates a ConfigMap. */
export function validateConfigMap(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const [data, binaryData] = [objectAt(object, 'data'), objectAt(object, 'binaryData')]
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    problems.invalidAll(`data[${key}]`, key, dataKeyProblems(key))
    if (Object.hasOwn(binaryData, key)) problems.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')
    bytes += Buffer.byteLength(String(value))
  }
  for (const [key, value] of Object.entries(binaryData)) {
    problems.invalidAll(`binaryData[${key}]`, key, dataKeyProblems(key))
    bytes += decodedSize(String(value))
  }
  // Messages about the object as a whole have an empty path, which is printed like this.
  if (bytes > MAX_BYTES) problems.tooLong('[]', MAX_BYTES)
  validateImmutable(problems, object, old)
  return problems.errors
}

/** Validates a Secret. */
export function validateSecret(object: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const problems = new Problems()
  const data = objectAt(object, 'data')
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    problems.invalidAll(`data[${key}]`, key, dataKeyProblems(key))
    bytes += decodedSize(String(value))
  }
  if (bytes > MAX_BYTES) problems.tooLong('data', MAX_BYTES)
  validateSecretType(problems, object, data)
  if (old !== undefined && object.type !== old.type) problems.invalid('type', object.type, IMMUTABLE)
  validateImmutable(problems, object, old)
  return problems.errors
}

function decodedSize(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function validateSecretType(problems: Problems, object: JsonObject, data: JsonObject): void {
  const has = (key: string) => data[key] !== undefined
  const need = (key: string) => {
    if (!has(key)) problems.required(`data[${key}]`)
  }
  switch (object.type) {
    case 'kubernetes.io/service-account-token': {
      const annotations = objectAt(objectAt(object, 'metadata'), 'annotations')
      const name = 'kubernetes.io/service-account.name'
      if (textAt(annotations, name) === '') problems.required(`metadata.annotations[${name}]`)
      return
    }
    case 'kubernetes.io/dockercfg':
      validateJsonKey(problems, data, '.dockercfg')
      return
    case 'kubernetes.io/dockerconfigjson':
      validateJsonKey(problems, data, '.dockerconfigjson')
      return
    case 'kubernetes.io/basic-auth':
      if (has('username') || has('password')) return
      for (const key of ['username', 'password']) need(key)
      return
    case 'kubernetes.io/ssh-auth':
      if ((data['ssh-privatekey'] ?? '') === '') problems.required('data[ssh-privatekey]')
      return
    case 'kubernetes.io/tls':
      for (const key of ['tls.crt', 'tls.key']) need(key)
  }
}

/** Validates that the value under `key` is JSON; the message must not contain any of it. */
function validateJsonKey(problems: Problems, data: JsonObject, key: string): void {
  const value = data[key]
  if (value === undefined) {
    problems.required(`data[${key}]`)
    return
  }
  const text = Buffer.from(String(value), 'base64').toString()
  try {
    JSON.parse(text)
  } catch {
    // The position of the error differs between parsers; the first character is the most common case.
    const detail =
      text === '' ? 'unexpected end of JSON input' : `invalid character '${text[0]}' looking for beginning of value`
    problems.invalid(`data[${key}]`, '<secret contents redacted>', detail)
  }
}
