/** A certificate authority for one control plane. Keys are discarded with the cluster. */
// The certificate library's dependency injection throws at import without it.
import 'reflect-metadata'
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { CERTIFICATE_VALIDITY_MS } from './defaults.ts'

/** A certificate and its private key, both PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The identity of a client certificate: the API server reads the user from CN and the groups from O. */
export interface ClientIdentity {
  readonly user: string
  readonly groups?: readonly string[]
}

/** Signs server and client certificates. */
export interface CertificateAuthority {
  /** The authority's own certificate and key. */
  readonly pair: KeyPair
  /** A serving certificate for the given DNS names and IP addresses; it is also valid as a client certificate. */
  issueServer(commonName: string, names: readonly string[]): Promise<KeyPair>
  /** A client certificate. */
  issueClient(identity: ClientIdentity): Promise<KeyPair>
}

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNING_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const

/** Creates an authority, valid from a minute ago (clocks differ) for {@link CERTIFICATE_VALIDITY_MS}. */
export async function createCertificateAuthority(
  commonName: string,
  now: () => number = Date.now,
): Promise<CertificateAuthority> {
  const validity = () => ({ notBefore: new Date(now() - 60_000), notAfter: new Date(now() + CERTIFICATE_VALIDITY_MS) })
  const keys = await webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })

  const issue = async (
    subject: x509.JsonName,
    usages: readonly string[],
    extensions: readonly x509.Extension[],
  ): Promise<KeyPair> => {
    const subjectKeys = await webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify'])
    const issued = await x509.X509CertificateGenerator.create({
      ...validity(),
      serialNumber: serialNumber(),
      subject,
      issuer: certificate.subjectName.toJSON(),
      publicKey: subjectKeys.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([...usages]),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ...extensions,
      ],
    })
    return { cert: `${issued.toString('pem')}\n`, key: await privateKeyPem(subjectKeys.privateKey) }
  }

  return {
    pair: { cert: `${certificate.toString('pem')}\n`, key: await privateKeyPem(keys.privateKey) },
    issueServer: (name, names) =>
      issue(
        [{ CN: [name] }],
        [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
        [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: isIpAddress(value) ? ('ip' as const) : ('dns' as const), value })),
          ),
        ],
      ),
    issueClient: ({ user, groups = [] }) =>
      issue([...groups.map((group) => ({ O: [group] })), { CN: [user] }], [x509.ExtendedKeyUsage.clientAuth], []),
  }
}

/** A key pair that signs and verifies service account tokens, PEM. */
export function createServiceAccountKeys(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

// The first byte stays below 0x80: a serial number is a positive integer.
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

function isIpAddress(value: string): boolean {
  return value.includes(':') || /^[0-9.]+$/.test(value)
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}
