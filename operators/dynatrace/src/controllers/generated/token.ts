/** Tokens that the operator makes up and keeps in Secrets. */

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const PUBLIC_LENGTH = 24
const SECRET_LENGTH = 64

/** A token with a public and a secret part. */
export function makeToken(prefix: string, randomBytes: (count: number) => Uint8Array): string {
  const text = (length: number) => [...randomBytes(length)].map((byte) => BASE32[byte % BASE32.length]).join('')
  return `${prefix}.${text(PUBLIC_LENGTH)}.${text(SECRET_LENGTH)}`
}
