/** Issues certificates: our own authority, and what it signs. The X.509 library is loaded when first used. */
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { CERTIFICATE_DEFAULTS } from '../defaults.ts'
import { RuntimeError } from '../runtime-error.ts'
import type { ServingCertificate } from './certificate-source.ts'
import { readPrivateKey } from './private-key.ts'

/** From when to when a certificate is valid. */
export interface Validity {
  /** Milliseconds since the epoch; certificates start an hour earlier for peers whose clock is behind. */
  readonly nowMs: number
  readonly validityMs: number
}

/** What a key may be used for, by its name in RFC 5280. */
export type KeyUsage = 'digitalSignature' | 'keyEncipherment' | 'keyCertSign' | 'cRLSign'

/** What a certificate says besides names and times; for installations whose certificates other tools inspect. */
export interface CertificateProfile {
  /** The subject in order, such as `[['O', 'Example'], ['CN', 'webhook']]`. @default a common name */
  readonly subject?: readonly (readonly [attribute: string, value: string])[]
  /** @default what an authority, or a server, needs */
  readonly keyUsages?: readonly KeyUsage[]
  /** Limits an authority to signing certificates of servers. @default false; those of servers are always limited */
  readonly isForServers?: boolean
}

// P-256 keys are generated in under a millisecond, and every API server accepts them.
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/**
 * A new self-signed authority.
 *
 * @example
 * const authority = await issueAuthority('webapp-operator', { nowMs: clock.now(), validityMs: 365 * 86_400_000 })
 */
export async function issueAuthority(
  commonName: string,
  validity: Validity,
  profile: CertificateProfile = {},
): Promise<ServingCertificate> {
  const x509 = await loadX509()
  const keys = await makeKeys()
  const { notBefore, notAfter } = periodOf(validity)
  const { keyUsages = ['keyCertSign', 'cRLSign'], isForServers = false } = profile
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // Two authorities of one name differ by this number, so that the old is not mistaken for the new.
    name: nameOf(profile, `${commonName} ${notBefore.toISOString().slice(0, 10)} ${randomBytes(4).toString('hex')}`),
    notBefore,
    notAfter,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(usageFlags(x509, keyUsages), true),
      ...(isForServers ? [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth])] : []),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: asPem(certificate.toString('pem')), privateKey: await exportKey(keys.privateKey) }
}

/**
 * A certificate for a TLS server, signed by `authority`. It never outlives the authority.
 *
 * @param hosts DNS names and IP addresses the server is reached by; at least one
 *
 * @example
 * const serving = await issueServing(authority, ['webapp-webhook.shop.svc'], { nowMs, validityMs })
 */
export async function issueServing(
  authority: ServingCertificate,
  hosts: readonly string[],
  validity: Validity,
  profile: CertificateProfile = {},
): Promise<ServingCertificate> {
  const [first] = hosts
  if (first === undefined) {
    throw new RuntimeError('CERTIFICATE_HOSTS', 'a serving certificate needs at least one host name or IP address')
  }
  const x509 = await loadX509()
  const issuer = new x509.X509Certificate(authority.certificate)
  const keys = await makeKeys()
  const { notBefore, notAfter } = periodOf(validity)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: nameOf(profile, first),
    issuer: issuer.subjectName,
    notBefore,
    notAfter: notAfter < issuer.notAfter ? notAfter : issuer.notAfter,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.privateKey),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(usageFlags(x509, profile.keyUsages ?? ['digitalSignature']), true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      await authorityKeyIdentifier(x509, issuer),
      // Without it, one whose subject is that of its authority would pass for self-signed with some libraries.
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
      ),
    ],
  })
  return { certificate: asPem(certificate.toString('pem')), privateKey: await exportKey(keys.privateKey) }
}

/**
 * The names under which the pods behind a Service are reached from inside the cluster, by the API server above all.
 *
 * @example
 * serviceHosts({ namespace: 'shop', name: 'webhook' }) // ['webhook.shop.svc', 'webhook.shop.svc.cluster.local', …]
 */
export function serviceHosts(
  service: { readonly namespace: string; readonly name: string },
  clusterDomain = 'cluster.local',
): readonly string[] {
  const short = `${service.name}.${service.namespace}`
  return [`${short}.svc`, `${short}.svc.${clusterDomain}`, short]
}

/** A common name is limited to 64 characters; clients use the alternative names anyway. */
function nameOf({ subject }: CertificateProfile, commonName: string): Record<string, string[]>[] {
  const attributes = subject ?? [['CN', commonName] as const]
  return attributes.map(([attribute, value]) => ({ [attribute]: [attribute === 'CN' ? value.slice(0, 64) : value] }))
}

function usageFlags(x509: X509Library, usages: readonly KeyUsage[]): number {
  return usages.reduce((flags, usage) => flags | x509.KeyUsageFlags[usage], 0)
}

/** The identifier that the authority itself states: other tools compute it differently, and some clients compare it. */
async function authorityKeyIdentifier(x509: X509Library, issuer: InstanceType<X509Library['X509Certificate']>) {
  const stated = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId
  return stated === undefined
    ? x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey)
    : new x509.AuthorityKeyIdentifierExtension(stated)
}

type X509Library = typeof import('@peculiar/x509')

async function loadX509(): Promise<X509Library> {
  // The library's dependency injection needs this polyfill before it is loaded.
  await import('reflect-metadata')
  return (await import('@peculiar/x509')).default
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = readPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function periodOf({ nowMs, validityMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(nowMs - CERTIFICATE_DEFAULTS.backdateMs), notAfter: new Date(nowMs + validityMs) }
}

/** A positive number of 16 bytes: the top bit stays clear, or DER would read it as negative. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

function asPem(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
