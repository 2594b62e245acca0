/** Inputs of targets that take several values: one JSON text, read as the server reads bodies. */
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

/** The two values of `{"document": …, "patch": …}`; `undefined` for anything else. */
export function parsedPair(text: string): { readonly document: JsonObject; readonly patch: JsonValue } | undefined {
  const value = parsedBody(text)
  if (!isJsonObject(value) || !isJsonObject(value.document) || value.patch === undefined) return undefined
  return { document: value.document, patch: value.patch }
}
