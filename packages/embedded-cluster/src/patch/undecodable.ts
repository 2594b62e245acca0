/** The error for a patch of the wrong JSON type. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'

/** A 400 with the message of the API server's decoder. */
export function undecodable(patch: JsonValue, expected: string): StatusError {
  const message = `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type ${expected}`
  return new StatusError(400, 'BadRequest', message)
}

/** The kind of a JSON value, as the decoder names it. */
export function jsonKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
