/** Takes secrets out of what helm prints, before it becomes part of an error or a log line. */
import { parse } from 'yaml'
import { isJsonObject } from '../json-shape.ts'
import type { HelmValues } from './helm-driver.ts'

/** Stands where a secret was. */
export const REDACTED = '[redacted]'

/** Shorter texts are in every sentence: replacing them would tell more than it hides. */
const MIN_SECRET_LENGTH = 4

/** Deeper values are not looked into; it bounds the work. */
const MAX_DEPTH = 32

// The last word of a key decides: `adminPassword` and `api_key` hold secrets, `passwordPolicy` and `secretName` do not.
const SECRET_KEY =
  /(^|[-_. a-z])(token|tokens|authorization|password|passwd|passphrase|secret|secrets|credential|credentials|cookie|api[-_]?key|private[-_]?key|(tls|ca)\.key|license)$/i

const SECRET_PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic|Api-Token)\s+[\w.~+/=-]{4,}/g, `$1 ${REDACTED}`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/(\/\/)[^\s/@]+:[^\s/@]+@/g, `$1${REDACTED}@`],
]

/**
 * `text` without secrets: those given, as they are and in base64, and what looks like a token, a private key or a
 * password in an address.
 */
export function redactOutput(text: string, secrets: readonly string[]): string {
  const literal = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64'), JSON.stringify(secret).slice(1, -1)])
    // The longest first: one secret may be part of another.
    .sort((a, b) => b.length - a.length)
  let safe = text
  for (const secret of literal) safe = safe.replaceAll(secret, REDACTED)
  for (const [pattern, replacement] of SECRET_PATTERNS) safe = safe.replace(pattern, replacement)
  return safe
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
  } else if (isJsonObject(value)) {
    for (const [key, field] of Object.entries(value)) {
      collect(field, { isSecret: place.isSecret || SECRET_KEY.test(key), depth }, found)
    }
  } else if (place.isSecret && (typeof value === 'string' || typeof value === 'number')) {
    found.push(String(value))
  }
}

function parseQuietly(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent', maxAliasCount: 100 })
  } catch {
    // Helm refuses the text as well, and says so; what cannot be parsed cannot be searched.
    return undefined
  }
}
