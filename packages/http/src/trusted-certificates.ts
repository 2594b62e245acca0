/** Certificate authorities: a PEM bundle of the user's on top of those that Node.js trusts. */
import { X509Certificate } from 'node:crypto'
import { getCACertificates } from 'node:tls'

const PEM_BLOCK = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED )?CERTIFICATE-----/g

/**
 * The certificates of a bundle that can be used; text around and between them is ignored, as are broken ones.
 *
 * @example
 * if (usableCertificates(bundle).length === 0) logger.warn({}, 'no usable certificate in the bundle')
 */
export function usableCertificates(bundle: string): readonly string[] {
  return (bundle.match(PEM_BLOCK) ?? []).filter(isCertificate)
}

/**
 * The bundle to verify servers with: the process's own authorities (`NODE_EXTRA_CA_CERTS` and `--use-system-ca`
 * included) and `extra`; `undefined` means that the process's own are enough.
 */
export function trustedBundle(extra: readonly string[]): string | undefined {
  return extra.length === 0 ? undefined : [...getCACertificates('default'), ...extra].join('\n')
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined
  } catch {
    // A certificate that cannot be parsed is a result, not a failure.
    return false
  }
}
