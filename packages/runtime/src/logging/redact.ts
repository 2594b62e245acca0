/** Redacts secrets in log fields. */
import { isSecretKey, REDACTED, redactText } from '@reeve/http'

/** The maximum depth of a log field; it bounds the work and ends cycles. */
const MAX_DEPTH = 6

/**
 * A copy of `value` that is safe to log: values under secret-like keys, bearer tokens, JSON web tokens, private keys
 * and passwords in addresses are replaced. Errors become plain objects with class, message, code and cause; those
 * that are not expected also have their stack.
 *
 * @param patterns what else is a secret, such as the tokens of a vendor; global expressions
 *
 * @example
 * redact({ url: 'https://api', headers: { authorization: 'Bearer abc123' } })
 * // { url: 'https://api', headers: { authorization: '[redacted]' } }
 */
export function redact(value: unknown, patterns: readonly RegExp[] = []): unknown {
  return redactAt(value, 0, patterns)
}

function redactAt(value: unknown, depth: number, patterns: readonly RegExp[]): unknown {
  if (typeof value === 'string') return redactText(value, patterns)
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[nested]'
  if (value instanceof Error) return redactError(value, depth, patterns)
  if (value instanceof Date) return value
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.map((item) => redactAt(item, depth + 1, patterns))
  const fields = Object.entries(value)
  return Object.fromEntries(fields.map(([key, field]) => [key, redactField(key, field, depth + 1, patterns)]))
}

function redactField(key: string, field: unknown, depth: number, patterns: readonly RegExp[]): unknown {
  const isSecret = isSecretKey(key) && field !== undefined && field !== null && typeof field !== 'boolean'
  return isSecret ? REDACTED : redactAt(field, depth, patterns)
}

function redactError(error: Error, depth: number, patterns: readonly RegExp[]): Record<string, unknown> {
  const { name: _name, message, stack, cause, ...own } = error
  return {
    type: className(error),
    message: redactText(message, patterns),
    ...(redactAt(own, depth + 1, patterns) as Record<string, unknown>), // the redaction of an object is an object
    ...(error instanceof AggregateError && { errors: redactAt(error.errors, depth + 1, patterns) }),
    ...(cause !== undefined && { cause: redactAt(cause, depth + 1, patterns) }),
    ...(!isExpected(error) && { stack: redactText(stack ?? '', patterns) }),
  }
}

/**
 * The name of an error, or of its class where that sets no name.
 *
 * @example
 * className(new StaleViewError(object)) // 'StaleViewError'
 */
export function className(error: Error): string {
  return error.name === 'Error' ? error.constructor.name : error.name
}

/**
 * Whether an error is expected: it has a stable code, and its stack would not help. Codes of Node that begin with `ERR_` are
 * about wrong calls, which are bugs, and so are the errors of the language.
 */
function isExpected(error: Error): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return false
  return 'code' in error && typeof error.code === 'string' && !error.code.startsWith('ERR_')
}
