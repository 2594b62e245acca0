/** Inputs of targets that take several values: one JSON text, read as the server reads bodies. */
import { attempt, sameJson, textOf } from '@reeve/fuzz'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/json.ts'
import { parseJson } from '../../src/schema/parse.ts'
import { StatusError } from '../../src/status-error.ts'

/** The value of a body; `undefined` for texts that the server refuses to read. */
export function parsedBody(text: string): JsonValue | undefined {
  try {
    return parseJson(text).value
  } catch (error) {
    if (error instanceof StatusError) return undefined
    throw error
  }
}

interface Pair {
  readonly document: JsonObject
  readonly patch: JsonValue
}

/**
 * What a patch makes of a document; `undefined` for inputs without a result. Fails if the document itself changes.
 *
 * @param apply applies the patch; may reject it with a StatusError
 */
export function patchedPair(
  input: Uint8Array,
  apply: (pair: Pair) => JsonObject,
): (Pair & { readonly patched: JsonObject }) | undefined {
  const pair = parsedPair(textOf(input))
  if (pair === undefined) return undefined
  const before = JSON.stringify(pair.document)
  const applied = attempt(() => apply(pair), StatusError)
  sameJson('a patch does not change its document', JSON.stringify(pair.document), before)
  return applied === undefined ? undefined : { ...pair, patched: applied.value }
}

/** The two values of `{"document": …, "patch": …}`; `undefined` for anything else. */
export function parsedPair(text: string): Pair | undefined {
  const value = parsedBody(text)
  if (!isJsonObject(value) || !isJsonObject(value.document) || value.patch === undefined) return undefined
  return { document: value.document, patch: value.patch }
}
