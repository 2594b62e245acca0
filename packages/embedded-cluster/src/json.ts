/** JSON values as the server handles them. */

export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
export interface JsonObject {
  [field: string]: JsonValue | undefined
}

/** Whether `value` is a JSON object, as opposed to a list, a scalar or nothing. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
