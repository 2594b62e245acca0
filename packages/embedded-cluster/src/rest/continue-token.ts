/** The token for the next page of a list: a revision, and the key after which to continue. */
import { posix } from 'node:path'
import { badRequest } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject } from '../json.ts'

/** Where the next page starts. */
export interface ContinuePoint {
  /** The revision of all pages; negative for "the latest, consistent or not". */
  readonly revision: number
  /** The last key of the page before, relative to the collection. */
  readonly start: string
}

const VERSION = 'meta.k8s.io/v1'

/** The token for a point. */
export function encodeContinue({ revision, start }: ContinuePoint): string {
  // The zero byte makes the key the first one behind `start`.
  const token = { v: VERSION, rv: revision, start: `/${start}\u0000` }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** The point of a token; 400 for one that no server made. */
export function decodeContinue(token: string): ContinuePoint {
  const { v, rv = 0, start = '' } = parse(Buffer.from(token, 'base64url').toString('utf8'))
  if (v !== VERSION) throw refuse(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`)
  if (typeof rv !== 'number' || !Number.isInteger(rv) || rv === 0) {
    throw refuse(`incorrect encoded start resourceVersion (version ${VERSION})`)
  }
  if (typeof start !== 'string' || start === '') throw refuse(`encoded start key empty (version ${VERSION})`)
  const key = start.startsWith('/') ? start : `/${start}`
  // A key outside its collection would show what the client did not request.
  if (posix.normalize(key) !== key) throw refuse(start)
  return { revision: rv, start: key.slice(1).replace(/\0$/, '') }
}

function parse(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse(`invalid character '${text.slice(0, 1)}' looking for beginning of value`)
  }
  if (isJsonObject(value)) return value
  const type = Array.isArray(value) ? 'array' : typeof value
  throw refuse(`json: cannot unmarshal ${type} into Go value of type storage.continueToken`)
}

function refuse(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`)
}
