/** Applies the JSON patch of a mutating webhook. */
import type { JsonObject, JsonValue } from '../json.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { internalError } from '../rest/api-errors.ts'
import { StatusError } from '../status-error.ts'

/**
 * The object after `operations`; the input stays as it was. Throws a 500 when they do not apply, or turn the object
 * into something else. Unlike a failed call, this is refused whatever the failure policy says.
 */
export function applyReviewPatch(webhookName: string, object: JsonObject, operations: JsonValue): JsonObject {
  const webhook = JSON.stringify(webhookName)
  let patched: JsonObject
  try {
    patched = applyJsonPatch(object, operations)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internalError(`the patch of admission webhook ${webhook} does not apply to the object`, { cause: error })
  }
  if (patched.kind !== object.kind || patched.apiVersion !== object.apiVersion) {
    throw internalError(`the patch of admission webhook ${webhook} turns the object into another kind`)
  }
  return patched
}
