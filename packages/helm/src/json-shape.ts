/** Looks into JSON that others wrote. */

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether `value` is a JSON object, and neither a list nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object at `key`, empty when there is none. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const found = value[key]
  return isJsonObject(found) ? found : {}
}

/** The text at `key`, if it is one and not empty. */
export function textAt(value: JsonObject, key: string): string | undefined {
  const found = value[key]
  return typeof found === 'string' && found !== '' ? found : undefined
}
