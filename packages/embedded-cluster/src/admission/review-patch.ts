/** Applies the JSON patch of a mutating webhook. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
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
    const why = failedOperation(object, Array.isArray(operations) ? operations : [])
    throw internalError(why ?? `the patch of admission webhook ${webhook} does not apply to the object`, {
      cause: error,
    })
  }
  if (patched.kind !== object.kind || patched.apiVersion !== object.apiVersion) {
    throw internalError(`the patch of admission webhook ${webhook} turns the object into another kind`)
  }
  return patched
}

/** The first operation that cannot be carried out, in the words of the API server where it has some. */
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
  const pointer = String(path)
  if (op === 'test') return `testing value ${pointer} failed: test failed`
  if (op !== 'remove') return undefined
  const key = pointer.slice(pointer.lastIndexOf('/') + 1)
  return `error in remove for path: '${pointer}': Unable to remove nonexistent key: ${key}: missing value`
}
