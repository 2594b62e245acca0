/** Access to untrusted JSON. */

/** A JSON object with unknown members. */
export type JsonRecord = Readonly<Record<string, unknown>>

/**
 * Whether `value` is an object with members: neither a list nor null.
 *
 * @example
 * if (isRecord(value) && typeof value.token === 'string') use(value.token)
 */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
