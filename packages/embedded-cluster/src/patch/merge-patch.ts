/** JSON merge patch (RFC 7396). */
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { ownField, setField } from '../schema/json-value.ts'
import { undecodable } from './undecodable.ts'

/**
 * Applies a merge patch to an object: null removes a field, objects are merged, everything else replaces.
 *
 * *Guarantees*: inputs are not modified; unchanged parts are shared with `document`, and a patch that changes nothing
 * returns `document` itself.
 *
 * *Errors*: StatusError 400 when the patch is not an object, because then the result would not be one.
 */
export function applyMergePatch(document: JsonObject, patch: JsonValue): JsonObject {
  if (!isJsonObject(patch)) throw undecodable(patch, 'map[string]interface {}')
  return mergeObjects(document, patch)
}

function mergeObjects(document: JsonObject, patch: JsonObject): JsonObject {
  let merged: JsonObject | undefined
  for (const name in patch) {
    const change = patch[name]
    if (change === undefined) continue
    const old = ownField(document, name)
    const next = merge(old, change)
    if (next === old) continue
    merged ??= { ...document }
    if (next === undefined) delete merged[name]
    else setField(merged, name, next)
  }
  return merged ?? document
}

function merge(old: JsonValue | undefined, change: JsonValue): JsonValue | undefined {
  if (change === null) return undefined
  if (isJsonObject(change)) {
    if (isJsonObject(old)) return mergeObjects(old, change)
    // Nulls in a new object have nothing to remove and must not be stored.
    return mergeObjects({}, change)
  }
  return old !== undefined && jsonEqual(old, change) ? old : change
}
