/** What the Secret of self-issued certificates contains, and how to read it without trusting it. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { CERTIFICATE_DEFAULTS } from '../defaults.ts'
import type { ServingCertificate } from './certificate-source.ts'
import { readPrivateKey } from './private-key.ts'

/** Keys of the Secret. The first two are what every TLS server expects in a Secret of type `kubernetes.io/tls`. */
const SECRET_KEYS = Object.freeze({
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  /** The authorities to trust, the newest first. */
  authorities: 'ca.crt',
  /** Key of the newest authority. */
  authorityKey: 'ca.key',
})

/** An authority or a serving certificate, parsed. */
export interface ParsedCertificate {
  readonly pem: string
  /** When it was issued: certificates are backdated. */
  readonly issuedMs: number
  readonly expiresMs: number
  readonly x509: X509Certificate
}

/** Certificates that belong together. */
export interface CertificateSet {
  readonly serving: ParsedCertificate
  readonly servingKey: string
  /** The newest first; at least one. */
  readonly authorities: readonly [ParsedCertificate, ...ParsedCertificate[]]
  readonly authorityKey: string
}

/**
 * The set in a Secret's data, or undefined when anything is missing, does not parse, or does not match: a key to
 * another certificate, a serving certificate that no authority of the set has signed.
 */
export function readCertificateSet(data: Readonly<Record<string, string>> | undefined): CertificateSet | undefined {
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8')
  try {
    const servingKey = text(SECRET_KEYS.privateKey)
    const authorityKey = text(SECRET_KEYS.authorityKey)
    const [serving] = parseCertificates(text(SECRET_KEYS.certificate))
    const [newest, ...older] = parseCertificates(text(SECRET_KEYS.authorities))
    if (serving === undefined || newest === undefined) return undefined
    const isWhole =
      serving.x509.checkPrivateKey(readPrivateKey(servingKey)) &&
      newest.x509.checkPrivateKey(readPrivateKey(authorityKey)) &&
      [newest, ...older].some((authority) => isSignedBy(serving, authority))
    return isWhole ? { serving, servingKey, authorities: [newest, ...older], authorityKey } : undefined
  } catch {
    // Data that does not parse counts as absent and is replaced.
    return undefined
  }
}

/** The Secret's data for a set. */
export function writeCertificateSet(set: {
  readonly serving: ServingCertificate
  readonly authorities: readonly string[]
  readonly authorityKey: string
}): Record<string, string> {
  const encode = (pem: string) => Buffer.from(pem).toString('base64')
  return {
    [SECRET_KEYS.certificate]: encode(set.serving.certificate),
    [SECRET_KEYS.privateKey]: encode(set.serving.privateKey),
    [SECRET_KEYS.authorities]: encode(set.authorities.join('')),
    [SECRET_KEYS.authorityKey]: encode(set.authorityKey),
  }
}

/** Every certificate of a PEM text. Throws when one does not parse. */
export function parseCertificates(pem: string): readonly ParsedCertificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks.map((block) => {
    const x509 = new X509Certificate(block)
    return {
      pem: `${block}\n`,
      issuedMs: x509.validFromDate.getTime() + CERTIFICATE_DEFAULTS.backdateMs,
      expiresMs: x509.validToDate.getTime(),
      x509,
    }
  })
}

/** Whether `authority` signed `certificate`: checked by the signature, not by names. */
export function isSignedBy(certificate: ParsedCertificate, authority: ParsedCertificate): boolean {
  return certificate.x509.checkIssued(authority.x509) && certificate.x509.verify(authority.x509.publicKey)
}

/** Whether the certificate is valid for every one of these host names and IP addresses. */
export function coversHosts(certificate: ParsedCertificate, hosts: readonly string[]): boolean {
  const names = new Set((certificate.x509.subjectAltName ?? '').split(', '))
  return hosts.every((host) =>
    isIP(host) === 0 ? names.has(`DNS:${host}`) : certificate.x509.checkIP(host) !== undefined,
  )
}
