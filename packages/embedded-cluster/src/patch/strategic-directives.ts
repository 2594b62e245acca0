/** The instructions a strategic merge patch carries between its fields. */
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { setField } from '../schema/json-value.ts'
import { StatusError } from '../status-error.ts'

const patchDirective = '$patch'
const retainKeysDirective = '$retainKeys'
const deletePrefix = '$deleteFromPrimitiveList'
const orderPrefix = '$setElementOrder'

/** One level of a patch, with its instructions told from its fields. */
export interface PatchLevel {
  /** What `$patch` says about this object as a whole. */
  readonly action: JsonValue | undefined
  /** The only fields that may be left in the object afterwards. */
  readonly retainKeys: ReadonlySet<JsonValue> | undefined
  /** The order of a list, by its field. */
  readonly orders: ReadonlyMap<string, JsonValue>
  /** Members to take out of a list of scalars, by its field. */
  readonly deletions: ReadonlyMap<string, JsonValue>
  /** The fields to merge. */
  readonly fields: ReadonlyMap<string, JsonValue>
}

/**
 * Reads one level of a patch.
 *
 * *Errors*: StatusError 400 when an instruction is malformed.
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

/** `$setElementOrder/containers` is about `containers`. */
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
 * A value for a field that is not there yet: without nulls and deletions, which have nothing to delete, and without
 * instructions. `undefined` when nothing is left of it.
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

/** A value that replaces another or joins a list: taken as it is, instructions in it are not obeyed, only left out. */
export function verbatimValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(verbatimValue)
  return isJsonObject(value) ? verbatimObject(value) : value
}

/** Like `verbatimValue`, of an object. */
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
