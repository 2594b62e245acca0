/** Takes secrets out of texts before they reach a log, an error, an event or a status. */

/** Stands where a secret was. */
export const REDACTED = '[redacted]'

/** Shorter values are in every sentence: replacing them would reveal more than it hides. */
const MIN_SECRET_LENGTH = 4

// The last word of a key decides: `apiToken` and `client_secret` hold secrets, `secretName` and `tokenExpiry` do not.
const SECRET_KEY =
  /(^|[-_. a-z])(token|tokens|authorization|password|passwd|passphrase|secret|credential|credentials|cookie|api[-_]?key|private[-_]?key|(tls|ca)\.key)$/i

const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(authorization["']?\s*[:=]\s*["']?(\w[\w-]*\s+)?)[\w.~+/=-]{4,}/gi, `$1${REDACTED}`],
  [/\bBearer\s+[\w.~+/=-]{4,}/g, `Bearer ${REDACTED}`],
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // At the beginning of a run of such characters only: from each of many it would be read to its end.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/(\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${REDACTED}@`],
]

/**
 * Whether the value under a key is a secret, by the name of the key.
 *
 * @example
 * isSecretKey('apiToken') // true
 * isSecretKey('secretName') // false
 */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key)
}

/**
 * `text` without what looks like a secret: authorization headers, bearer tokens, JSON web tokens, private keys and
 * passwords in URLs.
 *
 * @param patterns what else is a secret, such as the tokens of a vendor; global expressions, whose matches are replaced
 *
 * @example
 * redactText('https://user:hunter2@host') // 'https://user:[redacted]@host'
 */
export function redactText(text: string, patterns: readonly RegExp[] = []): string {
  let safe = text
  for (const [pattern, replacement] of SECRET_TEXT) safe = safe.replace(pattern, replacement)
  for (const pattern of patterns) safe = safe.replaceAll(pattern, REDACTED)
  return safe
}

/**
 * `text` without the given secrets, as they are and as they travel: in base64, percent-encoded and within JSON.
 * Secrets of fewer than four characters are ignored.
 *
 * @example
 * redactSecrets('unknown token abc-def', ['abc-def']) // 'unknown token [redacted]'
 */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret.toWellFormed()),
      Buffer.from(secret).toString('base64'),
      JSON.stringify(secret).slice(1, -1),
    ])
    // Longest first: a secret may contain another one, such as the public part of a token.
    .toSorted((a, b) => b.length - a.length)
  let safe = text
  for (const form of new Set(forms)) safe = safe.replaceAll(form, REDACTED)
  return safe
}
