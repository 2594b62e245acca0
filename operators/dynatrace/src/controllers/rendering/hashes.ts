/** Short texts that change with a value: what makes pods restart when something they have read changes. */
import { createHash } from 'node:crypto'

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * FNV-1 with 32 bits, as a decimal number. Old and small, but installations carry such values on their pods: another
 * algorithm would restart every agent of a cluster that is taken over.
 *
 * @example
 * rawHash('password123') // '65206054'
 */
export function rawHash(text: string): string {
  let hash = FNV_OFFSET
  for (const byte of Buffer.from(text, 'utf8')) hash = (Math.imul(hash, FNV_PRIME) ^ byte) >>> 0
  return String(hash)
}

/**
 * The hash of a value by its JSON.
 *
 * @example
 * hashOf({ a: 'b' }) // '1728003852'
 */
export function hashOf(value: unknown): string {
  return rawHash(canonicalJson(value))
}

/**
 * The hash of a value that must not be guessed from it: passwords in the address of a proxy, for instance.
 *
 * @example
 * secureHashOf('password123') // '4a61f9cdf3d1802b'
 */
export function secureHashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex').slice(0, 16)
}

/**
 * JSON with sorted keys and, inside texts, escapes for what is special in HTML: byte for byte what earlier releases
 * hashed.
 */
function canonicalJson(value: unknown): string {
  return escapeHtml(JSON.stringify(sorted(value)))
}

/** For values whose keys are already in the order that counts. */
export function hashOfOrdered(value: unknown): string {
  return rawHash(escapeHtml(JSON.stringify(value)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]))
}

function escapeHtml(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
