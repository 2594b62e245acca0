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

/**
 * The value of an untrusted name, never an inherited property such as `constructor`.
 *
 * @example
 * const schema = ownValue(schemas, object.kind)
 */
export function ownValue<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}
