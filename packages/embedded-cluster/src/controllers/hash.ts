/** Short stable hashes of content, such as the hash of a pod template. */

/** FNV-1a over the UTF-16 units of `text`, 32 bits. Fast and evenly distributed; not for security. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}

/** Letters and digits that form no words and are not easily confused. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * A hash of a JSON value that is valid in names and independent of the order of fields. `salt` produces another one for
 * the same value, to resolve collisions.
 */
export function contentHash(value: unknown, salt = 0): string {
  const digits = fnv1a(`${canonical(value)}${salt === 0 ? '' : salt}`).toString()
  return Array.from(digits, (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).filter(([, field]) => field !== undefined)
  fields.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join()}}`
}
