/** Looks into JSON that others wrote. */

/** A JSON object whose members are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>

/**
 * Whether `value` is an object with members: neither a list nor null.
 *
 * @example
 * if (isRecord(answer) && typeof answer.token === 'string') use(answer.token)
 */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
