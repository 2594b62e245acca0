/** Verifies content by its digest while it passes. */
import { createHash } from 'node:crypto'
import { isDigest } from './image-reference.ts'
import { DigestMismatchError } from './registry-error.ts'

/** `sha256:…` of some bytes. */
export function digestOf(bytes: Uint8Array, algorithm = 'sha256'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`
}

/** Fails with {@link DigestMismatchError} unless the bytes have the digest. */
export function verifyDigest(what: string, digest: string, bytes: Uint8Array): void {
  const [algorithm = ''] = digest.split(':')
  if (!isDigest(digest) || digestOf(bytes, algorithm) !== digest) throw new DigestMismatchError(what, digest)
}

/**
 * The same bytes; fails with {@link DigestMismatchError} at the end when they do not match the digest, and as
 * soon as there are more than announced.
 *
 * @example
 * for await (const chunk of verified('layer', descriptor, response.body)) …
 */
export async function* verified(
  what: string,
  { digest, size }: { readonly digest: string; readonly size: number },
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!isDigest(digest)) throw new DigestMismatchError(what, digest)
  const [algorithm = ''] = digest.split(':')
  const hash = createHash(algorithm)
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.byteLength
    if (bytes > size) throw new DigestMismatchError(what, digest)
    hash.update(chunk)
    yield chunk
  }
  if (bytes !== size || `${algorithm}:${hash.digest('hex')}` !== digest) throw new DigestMismatchError(what, digest)
}
