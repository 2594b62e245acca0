/** Removes secrets from texts before they reach a log, an error, an event or a status. */

/** The replacement of a secret. */
export const REDACTED = '[redacted]'

/** Shorter values occur in ordinary text: replacing them would reveal more than it hides. */
const MIN_SECRET_LENGTH = 4

// The last word of a key decides: `apiToken` and `client_secret` contain secrets, `secretName` and `tokenExpiry` do
// not.
const SECRET_KEY =
  /(^|[-_. a-z])(token|tokens|authorization|password|passwd|passphrase|secret|credential|credentials|cookie|api[-_]?key|private[-_]?key|(tls|ca)\.key)$/i

const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(authorization["']?\s*[:=]\s*["']?(\w[\w-]*\s+)?)[\w.~+/=-]{4,}/gi, `$1${REDACTED}`],
  [/\bBearer\s+[\w.~+/=-]{4,}/g, `Bearer ${REDACTED}`],
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  // Only at the beginning of such a run: otherwise each character would be matched to its end.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/(\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${REDACTED}@`],
]

/** Matches every text that {@link SECRET_TEXT} changes, and hardly any other: one search instead of five for most texts. */
const MAYBE_SECRET = /authorization|Bearer|PRIVATE KEY|eyJ|\/\//i

/**
 * Whether the value of a key is a secret, by the name of the key.
 *
 * @example
 * isSecretKey('apiToken') // true
 * isSecretKey('secretName') // false
 */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key)
}

/**
 * `text` without anything that looks like a secret: authorization headers, bearer tokens, JSON web tokens, private keys
 * and passwords in URLs.
 *
 * @param patterns additional secrets, such as the tokens of a vendor; global expressions whose matches are replaced
 *
 * @example
 * redactText('https://user:hunter2@host') // 'https://user:[redacted]@host'
 */
export function redactText(text: string, patterns: readonly RegExp[] = []): string {
  let safe = text
  if (MAYBE_SECRET.test(text)) {
    for (const [pattern, replacement] of SECRET_TEXT) safe = safe.replace(pattern, replacement)
  }
  for (const pattern of patterns) safe = safe.replaceAll(pattern, REDACTED)
  return safe
}

/**
 * Replaces the given secrets in texts, in plain form, in base64, percent-encoded and in JSON. Secrets of fewer than four
 * characters are ignored. The forms are computed once, for many texts.
 *
 * @example
 * const redact = secretRedactor(['abc-def'])
 * redact('unknown token abc-def') // 'unknown token [redacted]'
 */
export function secretRedactor(secrets: Iterable<string>): (text: string) => string {
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
  const unique = [...new Set(forms)]
  const shortest = unique.at(-1)?.length ?? 0
  return (text) => {
    if (text.length < shortest) return text
    let safe = text
    for (const form of unique) safe = safe.replaceAll(form, REDACTED)
    return safe
  }
}

/**
 * `text` without the given secrets; see {@link secretRedactor}.
 *
 * @example
 * redactSecrets('unknown token abc-def', ['abc-def']) // 'unknown token [redacted]'
 */
export function redactSecrets(text: string, secrets: Iterable<string>): string {
  return secretRedactor(secrets)(text)
}
