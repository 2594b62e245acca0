/** Applies the JSON patch of a mutating webhook. */
import type { JsonObject, JsonValue } from '../json.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { internalError } from '../rest/api-errors.ts'
import { StatusError } from '../status-error.ts'

/**
 * The object after `patchText`; the input stays as it was. Throws a 500 when the text is no patch, does not apply, or
 * turns the object into something else. Unlike a failed call, this is refused whatever the failure policy says.
 */
export function applyReviewPatch(webhookName: string, object: JsonObject, patchText: string): JsonObject {
  const patched = apply(JSON.stringify(webhookName), object, patchText)
  if (patched.kind !== object.kind || patched.apiVersion !== object.apiVersion) {
    throw internalError(`admission webhook ${JSON.stringify(webhookName)} turned the object into another kind`)
  }
  return patched
}

function apply(webhook: string, object: JsonObject, patchText: string): JsonObject {
  let operations: JsonValue
  try {
    operations = JSON.parse(patchText)
  } catch (error) {
    throw internalError(`the patch of admission webhook ${webhook} is not JSON`, { cause: error })
  }
  try {
    return applyJsonPatch(object, operations)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    throw internalError(`the patch of admission webhook ${webhook} does not apply: ${error.message}`, { cause: error })
  }
}
