/** Takes secrets out of what helm prints, before it becomes part of an error or a log line. */
import { isRecord, isSecretKey, redactSecrets, redactText } from '@reeve/http'
import { parse } from 'yaml'
import type { HelmValues } from './helm-driver.ts'

/** Deeper values are not searched, to bound the work. */
const MAX_DEPTH = 32

/** Charts keep whole secrets under these as well. */
const CHART_SECRET_KEY = /(^|[-_. a-z])(secrets|license)$/i

/** What helm quotes of a request. */
const CREDENTIALS = [/(?<=\bBasic\s{1,9})[\w.~+/=-]{4,}/g]

/**
 * `text` without secrets: the given ones, plain and in base64, and what looks like a token, a private key or a
 * password in an address.
 */
export function redactOutput(text: string, secrets: readonly string[]): string {
  return redactText(redactSecrets(text, secrets), CREDENTIALS)
}

/**
 * The texts in `values` that stand under a key such as `password` or `apiToken`, or below one such as `secrets`; all of
 * them when `areSecret`.
 */
export function secretsInValues(values: HelmValues | undefined, areSecret = false): readonly string[] {
  if (values === undefined) return []
  const found: string[] = []
  collect(typeof values === 'string' ? parseQuietly(values) : values, { isSecret: areSecret, depth: 0 }, found)
  return found
}

function collect(value: unknown, place: { isSecret: boolean; depth: number }, found: string[]): void {
  if (place.depth > MAX_DEPTH) return
  const depth = place.depth + 1
  if (Array.isArray(value)) {
    for (const item of value) collect(item, { isSecret: place.isSecret, depth }, found)
  } else if (isRecord(value)) {
    for (const [key, field] of Object.entries(value)) {
      collect(field, { isSecret: place.isSecret || isSecretKey(key) || CHART_SECRET_KEY.test(key), depth }, found)
    }
  } else if (place.isSecret && (typeof value === 'string' || typeof value === 'number')) {
    found.push(String(value))
  }
}

function parseQuietly(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent', maxAliasCount: 100 })
  } catch {
    // Helm rejects the text as well; what cannot be parsed cannot be searched.
    return undefined
  }
}
