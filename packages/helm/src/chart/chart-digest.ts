/** Reads digests as users and indexes write them. */
import { InvalidHelmRequestError } from '../errors.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The digest as this package writes it; `where` names it when it is not valid. Indexes leave out `sha256:`. */
export function parseDigest(text: string, where: string): string {
  const digest = text.includes(':') ? text.toLowerCase() : `sha256:${text.toLowerCase()}`
  if (DIGEST.test(digest)) return digest
  throw new InvalidHelmRequestError(`${where} is not a digest: write sha256: and 64 hexadecimal digits`)
}
