/** Decodes the response of a server into a typed value, or into a message that names the invalid field. */
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'

/** A value that matches the schema, or the problem with it. */
export type Decoded<T> = { readonly value: T } | { readonly problem: string }

/** Problems listed at most; an invalid response usually has the same problem many times. */
const MAX_PROBLEMS = 3

/** Options of {@link decodeJson}. */
export interface DecodeOptions {
  /**
   * Keys whose numbers are returned as text: numbers beyond 2^53 would lose digits.
   * @default none
   */
  readonly numbersAsText?: readonly string[]
}

/** The context that the parser passes to a reviver; TypeScript's library does not declare it yet. */
interface ParseContext {
  /** Its text; only for what is neither an object nor an array. */
  readonly source?: string
}

/**
 * Parses and checks. A field of `null` counts as absent, as servers write either; an item of a list does not: a list
 * with holes passes the check of its items. Values are never quoted: they may be secrets.
 *
 * @example
 * const decoded = decodeJson(Type.Object({ token: Type.String() }), bytes)
 * if ('problem' in decoded) throw new Error(decoded.problem) // 'token must be string'
 */
export function decodeJson<S extends TSchema>(
  schema: S,
  bytes: Uint8Array,
  { numbersAsText = [] }: DecodeOptions = {},
): Decoded<Static<S>> {
  const revive = function (this: unknown, key: string, value: unknown, context?: ParseContext) {
    if (value === null) return Array.isArray(this) ? null : undefined
    return typeof value === 'number' && numbersAsText.includes(key) ? context?.source : value
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(bytes).toString('utf8'), revive)
  } catch {
    // The parser's own message quotes the text.
    return { problem: bytes.byteLength === 0 ? 'the response is empty' : 'the response is not JSON' }
  }
  if (Value.Check(schema, parsed)) return { value: parsed }
  const problems = Value.Errors(schema, parsed).map(
    ({ instancePath, message }) => `${fieldName(instancePath)} ${message}`,
  )
  return { problem: [...new Set(problems)].slice(0, MAX_PROBLEMS).join('; ') }
}

function fieldName(pointer: string): string {
  if (pointer === '') return 'the response'
  return pointer
    .slice(1)
    .replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.')
}
