/** Applies the JSON patch of a mutating webhook. */

import { internalError } from '../api/api-errors.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { applyJsonPatch } from '../patch/json-patch.ts'
import { StatusError } from '../status-error.ts'

/**
 * The object after `operations`; the input is not modified. Throws a 500 when they cannot be applied or change the
 * kind. Unlike a failed call, this rejects the request regardless of the failure policy.
 */
export function applyReviewPatch(webhookName: string, object: JsonObject, operations: JsonValue): JsonObject {
  const webhook = JSON.stringify(webhookName)
  let patched: JsonObject
  try {
    patched = applyJsonPatch(object, operations)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const why = failedOperation(object, Array.isArray(operations) ? operations : [])
    throw internalError(why ?? `the patch of admission webhook ${webhook} does not apply to the object`, {
      cause: error,
    })
  }
  if (patched.kind !== object.kind || patched.apiVersion !== object.apiVersion) {
    throw internalError(`the patch of admission webhook ${webhook} changes the kind of the object`)
  }
  return patched
}

/** A description of the first operation that fails, in the API server's wording where it has one. */
function failedOperation(object: JsonObject, operations: readonly JsonValue[]): string | undefined {
  let current = object
  for (const operation of operations) {
    try {
      current = applyJsonPatch(current, [operation])
    } catch (error) {
      if (!(error instanceof StatusError) || !isJsonObject(operation)) return undefined
      return describeFailure(operation)
    }
  }
  return undefined
}

function describeFailure({ op, path }: JsonObject): string | undefined {
  const pointer = typeof path === 'string' ? path : ''
  if (op === 'test') return `testing value ${pointer} failed: test failed`
  if (op !== 'remove') return undefined
  const key = pointer.slice(pointer.lastIndexOf('/') + 1)
  return `error in remove for path: '${pointer}': Unable to remove nonexistent key: ${key}: missing value`
}
