/** Secrets are looked up by their digest: the comparison takes constant time. */
import { createHash } from 'node:crypto'

/** The key under which something is kept for the bearer of a secret. */
export function secretDigest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64')
}
