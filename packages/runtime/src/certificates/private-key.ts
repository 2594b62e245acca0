/** Reads private keys, also those that say they are what they are not. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

const MISLABELLED = /^-----BEGIN PRIVATE KEY-----([\s\S]+)-----END PRIVATE KEY-----\s*$/

/**
 * The key of a PEM text. Some programs put the bytes of an EC key (SEC 1) under the label of PKCS #8; such a key is
 * accepted.
 *
 * *Errors*: the crypto library's, without the text, when it is not a key.
 *
 * @example
 * const isFitting = new X509Certificate(certificate).checkPrivateKey(readPrivateKey(pem))
 */
export function readPrivateKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const [, base64] = MISLABELLED.exec(pem.trim()) ?? []
    if (base64 === undefined) throw error
    return createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'sec1' })
  }
}

/** The same key as every TLS library reads it: PKCS #8 in PEM. A text in this form is returned unchanged. */
export function asReadableKey(pem: string): string {
  try {
    createPrivateKey(pem)
    return pem
  } catch {
    // If more than the label is wrong, the next line throws.
    return readPrivateKey(pem).export({ type: 'pkcs8', format: 'pem' }).toString()
  }
}
