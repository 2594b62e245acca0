/** Names values by their content. */

import { createHash } from 'node:crypto'
import { isRecord } from '@reeve/http'
import { InvalidHelmRequestError } from '../errors.ts'

/** Real values are not nested this deep; without a limit a malicious document would exhaust the stack. */
const MAX_DEPTH = 100

/**
 * A digest that is the same for the same values, regardless of the order of their keys.
 *
 * @example
 * const isUnchanged = valuesDigest(desired) === valuesDigest(release.values)
 */
export function valuesDigest(values: Readonly<Record<string, unknown>>): string {
  return `sha256:${createHash('sha256').update(canonical(values, 0)).digest('hex')}`
}

function canonical(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new InvalidHelmRequestError(`values are nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key], depth + 1)}`)
  return `{${fields.join()}}`
}
