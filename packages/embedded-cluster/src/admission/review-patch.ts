/** Applies the JSON patch of a mutating webhook. */
import { applyPatch } from 'rfc6902'
import { isJsonObject, type JsonObject } from '../json.ts'
import { internalError } from '../rest/api-errors.ts'

const operations = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

/**
 * The object after `patchText`; the input stays as it was. Throws a 500 when the text is no patch, does not apply, or
 * turns the object into something else. Unlike a failed call, this is refused whatever the failure policy says.
 */
export function applyReviewPatch(webhookName: string, object: JsonObject, patchText: string): JsonObject {
  const patch = parsePatch(webhookName, patchText)
  const draft: unknown = structuredClone(object)
  const failed = applyPatch(draft, patch).find((error) => error !== null)
  if (failed !== undefined) {
    const why = `${failed.name}: ${failed.message}`
    throw internalError(`the patch of admission webhook ${JSON.stringify(webhookName)} does not apply: ${why}`)
  }
  if (!isJsonObject(draft) || draft.kind !== object.kind || draft.apiVersion !== object.apiVersion) {
    throw internalError(`admission webhook ${JSON.stringify(webhookName)} turned the object into another kind`)
  }
  return draft
}

type Patch = Parameters<typeof applyPatch>[1]

function parsePatch(webhookName: string, text: string): Patch {
  const refused = (why: string, cause?: unknown) =>
    internalError(`admission webhook ${JSON.stringify(webhookName)} returned no valid JSON patch: ${why}`, { cause })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw refused(error instanceof Error ? error.message : String(error), error)
  }
  if (!Array.isArray(value)) throw refused('not a list of operations')
  for (const [index, operation] of value.entries()) {
    const isKnown = isJsonObject(operation) && typeof operation.op === 'string' && operations.has(operation.op)
    if (!isKnown || typeof operation.path !== 'string') throw refused(`operation ${index} is malformed`)
  }
  // Every entry was checked to be an operation just above.
  return value as Patch
}
