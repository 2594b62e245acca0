/** The directives in a strategic merge patch. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { setField } from '../schema/json-value.ts'
import { StatusError } from '../status-error.ts'

const patchDirective = '$patch'
const retainKeysDirective = '$retainKeys'
const deletePrefix = '$deleteFromPrimitiveList'
const orderPrefix = '$setElementOrder'

/** One level of a patch, with directives separated from fields. */
export interface PatchLevel {
  /** The `$patch` directive of this object. */
  readonly action: JsonValue | undefined
  /** The only fields to keep in the object. */
  readonly retainKeys: ReadonlySet<JsonValue> | undefined
  /** The order of a list, by field. */
  readonly orders: ReadonlyMap<string, JsonValue>
  /** Members to remove from a list of scalars, by field. */
  readonly deletions: ReadonlyMap<string, JsonValue>
  /** The fields to merge. */
  readonly fields: ReadonlyMap<string, JsonValue>
}

/**
 * Reads one level of a patch.
 *
 * *Errors*: StatusError 400 when a directive is malformed.
 */
export function readLevel(patch: JsonObject): PatchLevel {
  const orders = new Map<string, JsonValue>()
  const deletions = new Map<string, JsonValue>()
  const fields = new Map<string, JsonValue>()
  for (const name in patch) {
    const value = patch[name]
    if (value === undefined || name === patchDirective || name === retainKeysDirective) continue
    if (name.startsWith(orderPrefix)) orders.set(fieldOf(name, 'setElementOrder list'), value)
    else if (name.startsWith(deletePrefix)) deletions.set(fieldOf(name, 'primitive list'), value)
    else fields.set(name, value)
  }
  return { action: patch[patchDirective], retainKeys: readRetainKeys(patch, fields), orders, deletions, fields }
}

/** `$setElementOrder/containers` applies to `containers`. */
function fieldOf(directive: string, what: string): string {
  const slash = directive.indexOf('/')
  if (slash === -1) throw malformed(what)
  return directive.slice(slash + 1)
}

function readRetainKeys(patch: JsonObject, fields: ReadonlyMap<string, JsonValue>): Set<JsonValue> | undefined {
  const list = patch[retainKeysDirective]
  if (list === undefined) return undefined
  if (!Array.isArray(list)) throw malformed('retainKeys')
  const kept = new Set(list)
  for (const [name, value] of fields) {
    if (value !== null && !kept.has(name)) throw malformed('retainKeys')
  }
  return kept
}

function malformed(what: string): StatusError {
  return new StatusError(400, 'BadRequest', `invalid patch format of ${what}`)
}

/**
 * The value of a new field: without nulls and deletions, which have nothing to delete, and without directives.
 * `undefined` when nothing remains.
 */
export function newValue(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) return value.map(newValue).filter((item) => item !== undefined)
  if (!isJsonObject(value)) return value
  if (value[patchDirective] === 'delete') return undefined
  const plain: JsonObject = {}
  for (const name in value) {
    const field = value[name]
    if (field === undefined || field === null || isDirective(name)) continue
    const kept = newValue(field)
    if (kept !== undefined) setField(plain, name, kept)
  }
  return plain
}

/**
 * A value that replaces another or is added to a list: it is taken as it is, directives in it are removed without
 * effect.
 */
export function verbatimValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(verbatimValue)
  return isJsonObject(value) ? verbatimObject(value) : value
}

/** Like `verbatimValue`, for an object. */
export function verbatimObject(object: JsonObject): JsonObject {
  const plain: JsonObject = {}
  for (const name in object) {
    const field = object[name]
    if (field === undefined || field === null || isDirective(name)) continue
    setField(plain, name, verbatimValue(field))
  }
  return plain
}

function isDirective(name: string): boolean {
  return (
    name === patchDirective ||
    name === retainKeysDirective ||
    name.startsWith(orderPrefix) ||
    name.startsWith(deletePrefix)
  )
}
