/** Certificates for servers inside the cluster that sign for themselves. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import type { Clock } from '@reeve/http'

/** A certificate with its private key, as PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly privateKey: string
}

const ALGORITHM = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 4096,
}
const LIFETIME_MS = 100 * 365 * 86_400_000
const SERVER_AUTHENTICATION = '1.3.6.1.5.5.7.3.1'

/** Who the certificate is for. */
export interface SelfSignedSubject {
  readonly commonName: string
  readonly hosts: readonly string[]
  readonly addresses: readonly string[]
}

/** The keys of a certificate. */
export type Keys = webcrypto.CryptoKeyPair

/** Makes a certificate for a subject, or takes one from somewhere. */
export type MakeCertificate = (subject: SelfSignedSubject, clock: Pick<Clock, 'now'>) => Promise<KeyPair>

/** Generates keys, on a thread of its own: takes about a second. */
export const generateKeys = (): Promise<Keys> => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])

/**
 * Makes a certificate. Clients trust this one certificate, so it is long-lived and not a CA.
 *
 * @example
 * const subject = { commonName: host, hosts: [host], addresses: ['10.96.0.7'] }
 * const pair = await selfSigned(subject, clock, await generateKeys())
 */
export async function selfSigned(
  { commonName, hosts, addresses }: SelfSignedSubject,
  clock: Pick<Clock, 'now'>,
  keys: Keys,
): Promise<KeyPair> {
  const notBefore = new Date(clock.now())
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `C=AT, ST=UA, L=Linz, O=Dynatrace, OU=Operator, CN=${commonName}`,
    notBefore,
    notAfter: new Date(notBefore.getTime() + LIFETIME_MS),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.dataEncipherment, true),
      new x509.ExtendedKeyUsageExtension([SERVER_AUTHENTICATION]),
      new x509.SubjectAlternativeNameExtension([
        ...hosts.map((value) => ({ type: 'dns', value }) as const),
        ...addresses.map((value) => ({ type: 'ip', value }) as const),
      ]),
    ],
  })
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`,
  }
}

/** 128 bits; the first one is cleared, as serial numbers are positive. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16))
  bytes[0] = (bytes[0] ?? 0) & 0x7f
  return Buffer.from(bytes).toString('hex')
}
