/** Takes secrets out of what is about to be logged. */

/** Stands where a secret was. */
export const REDACTED = '[redacted]'

/** Deeper than this a log field is nobody's reading; it also bounds the work and breaks cycles. */
const MAX_DEPTH = 6

// The last word of a key decides: `apiToken` and `client_secret` hold secrets, `secretName` and `tokenExpiry` do not.
const SECRET_KEY =
  /(^|[-_. a-z])(token|tokens|authorization|password|passwd|passphrase|secret|credential|credentials|cookie|api[-_]?key|private[-_]?key|(tls|ca)\.key)$/i

const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\b(authorization["']?\s*[:=]\s*["']?(\w[\w-]*\s+)?)[\w.~+/=-]{4,}/gi, `$1${REDACTED}`],
  [/\b(Bearer|Api-Token)\s+[\w.~+/=-]{4,}/g, `$1 ${REDACTED}`],
  [/-----BEGIN ([A-Z ]*)PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/(\/\/[^\s/:@]*:)[^\s/@]+@/g, `$1${REDACTED}@`],
]

/**
 * A copy of `value` that is safe to log: values under secret-like keys, bearer tokens, JSON web tokens, private keys
 * and passwords in addresses are replaced. Errors become plain objects with message, code and stack.
 *
 * @example
 * redact({ url: 'https://api', headers: { authorization: 'Bearer abc123' } })
 * // { url: 'https://api', headers: { authorization: '[redacted]' } }
 */
export function redact(value: unknown): unknown {
  return redactAt(value, 0)
}

/** Takes secrets out of a text. */
export function redactText(text: string): string {
  let safe = text
  for (const [pattern, replacement] of SECRET_TEXT) safe = safe.replace(pattern, replacement)
  return safe
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[nested]'
  if (value instanceof Error) return redactError(value, depth)
  if (value instanceof Date) return value
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.map((item) => redactAt(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, redactField(key, field, depth + 1)]))
}

function redactField(key: string, field: unknown, depth: number): unknown {
  const isSecret = SECRET_KEY.test(key) && field !== undefined && field !== null && typeof field !== 'boolean'
  return isSecret ? REDACTED : redactAt(field, depth)
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause, ...own } = error
  return {
    type: name,
    message: redactText(message),
    ...(redactAt(own, depth + 1) as Record<string, unknown>), // an object goes in, so an object comes out
    ...(cause !== undefined && { cause: redactAt(cause, depth + 1) }),
    stack: redactText(stack ?? ''),
  }
}
