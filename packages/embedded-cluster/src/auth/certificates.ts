/** The cluster's certificate authority, and the server and client certificates it signs. */
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'

/** A certificate with its private key, both in PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly privateKey: string
}

/** The start and duration of a certificate's validity. */
export interface Validity {
  /** Milliseconds since the epoch. @default the system time, because TLS peers check against theirs */
  readonly now?: number
  /** @default ten years for the authority, one year for other certificates */
  readonly validityMs?: number
}

/** The subject of a server certificate. */
export interface ServerCertificateOptions extends Validity {
  /** DNS names and IP addresses of the server; at least one. The first is the common name. */
  readonly hosts: readonly string[]
}

/** The subject of a client certificate. */
export interface ClientCertificateOptions extends Validity {
  /** Becomes the common name, which the API server reads as the user's name. */
  readonly username: string
  /** Become the organizations, which the API server reads as groups. @default [] */
  readonly groups?: readonly string[]
}

const DAY_MS = 24 * 60 * 60 * 1000
const AUTHORITY_VALIDITY_MS = 3650 * DAY_MS
const LEAF_VALIDITY_MS = 365 * DAY_MS
/** Certificates start a little in the past, so that a peer whose clock is behind accepts them immediately. */
const BACKDATE_MS = 60 * 60 * 1000

// P-256 keys are generated in under a millisecond, where RSA keys would dominate the start of a cluster.
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/**
 * An authority that signs certificates for servers and clients.
 *
 * @example
 * const authority = await CertificateAuthority.create('embedded-cluster')
 * const server = await authority.issueServer({ hosts: ['localhost', '127.0.0.1'] })
 * const admin = await authority.issueClient({ username: 'admin', groups: ['system:masters'] })
 */
export class CertificateAuthority {
  /** The authority's own certificate in PEM, which clients trust. */
  readonly certificate: string
  /** In PEM, to store the authority across restarts. */
  readonly privateKey: string
  readonly #signingKey: webcrypto.CryptoKey

  private constructor(pair: KeyPair, signingKey: webcrypto.CryptoKey) {
    this.certificate = pair.certificate
    this.privateKey = pair.privateKey
    this.#signingKey = signingKey
  }

  /** Creates a new authority with a fresh key. */
  static async create(commonName: string, validity: Validity = {}): Promise<CertificateAuthority> {
    const x509 = await loadX509()
    const keys = await generateKeys()
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: serialNumber(),
      name: [{ CN: [commonName] }],
      ...period(validity, AUTHORITY_VALIDITY_MS),
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.cRLSign,
          true,
        ),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    })
    const pair = { certificate: pem(certificate.toString('pem')), privateKey: await exportKey(keys.privateKey) }
    return new CertificateAuthority(pair, keys.privateKey)
  }

  /** Loads an existing authority from its certificate and P-256 key in PEM. */
  static async load(pair: KeyPair): Promise<CertificateAuthority> {
    const der = Buffer.from(pair.privateKey.replace(/-----[^-]+-----|\s/g, ''), 'base64')
    const key = await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
    return new CertificateAuthority(pair, key)
  }

  /** Signs a certificate for a TLS server. */
  issueServer(options: ServerCertificateOptions): Promise<KeyPair> {
    const [first] = options.hosts
    if (first === undefined) throw new RangeError('a server certificate needs at least one host')
    return this.#issue([{ CN: [first] }], 'server', options.hosts, options)
  }

  /** Signs a certificate that authenticates a user. */
  issueClient(options: ClientCertificateOptions): Promise<KeyPair> {
    const groups = (options.groups ?? []).map((group) => ({ O: [group] }))
    return this.#issue([...groups, { CN: [options.username] }], 'client', [], options)
  }

  async #issue(
    subject: { [attribute: string]: string[] }[],
    use: 'server' | 'client',
    hosts: readonly string[],
    validity: Validity,
  ): Promise<KeyPair> {
    const x509 = await loadX509()
    const issuer = new x509.X509Certificate(this.certificate)
    const keys = await generateKeys()
    const usage = use === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth
    const names = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }))
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject,
      issuer: issuer.subjectName,
      ...period(validity, LEAF_VALIDITY_MS),
      publicKey: keys.publicKey,
      signingKey: this.#signingKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([usage]),
        await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
        ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)]),
      ],
    })
    return { certificate: pem(certificate.toString('pem')), privateKey: await exportKey(keys.privateKey) }
  }
}

/** Importing the library takes longer than all signing at a start, so it is only imported for TLS. */
async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata')
  return (await import('@peculiar/x509')).default
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function period(validity: Validity, defaultMs: number): { notBefore: Date; notAfter: Date } {
  const now = validity.now ?? Date.now()
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + (validity.validityMs ?? defaultMs)) }
}

/** A positive number of 16 bytes: the top bit is cleared, because DER would read it as negative. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

function pem(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
