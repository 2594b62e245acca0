/** Laws that hold for every input, such as: what is printed can be parsed again. */
import { isDeepStrictEqual } from 'node:util'

/**
 * The error to throw when a law does not hold; `law` must be the same text for every input.
 *
 * @example
 * if (!isSorted(parsed)) throw broken('versions are sorted', parsed)
 */
export function broken(law: string, ...evidence: readonly unknown[]): Error {
  const shown = evidence.map((value) => JSON.stringify(value)?.slice(0, 500) ?? String(value))
  return new Error(`${law}${shown.length > 0 ? `: ${shown.join(' | ')}` : ''}`)
}

/**
 * Throws unless both values are the same JSON: `-0` and `0` are the same number.
 *
 * @example
 * sameJson('a second apply changes nothing', apply(once), once)
 */
export function sameJson(law: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return
  if (!isDeepStrictEqual(withoutNegativeZeros(actual), withoutNegativeZeros(expected))) {
    throw broken(law, actual, expected)
  }
}

function withoutNegativeZeros(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(withoutNegativeZeros)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutNegativeZeros(member)]))
}
