/** The answer to a patch that is not even of the right shape. */
import { isJsonObject, type JsonValue } from '../json.ts'
import { StatusError } from '../status-error.ts'

/** A 400 in the words of the API server's decoder. */
export function undecodable(patch: JsonValue, expected: string): StatusError {
  const message = `error decoding patch: json: cannot unmarshal ${jsonKind(patch)} into Go value of type ${expected}`
  return new StatusError(400, 'BadRequest', message)
}

/** The kind of a JSON value as that decoder names it. */
export function jsonKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  if (isJsonObject(value)) return 'object'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
