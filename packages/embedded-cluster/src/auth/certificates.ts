/** The cluster's certificate authority, and the server and client certificates it signs. */
import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'
import {
  bitString,
  contextConstructed,
  contextPrimitive,
  integer,
  isTrue,
  itemsOf,
  namedBits,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  time,
  utf8String,
} from './der.ts'

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

/** Object identifiers of RFC 5280 and RFC 5758. */
const oid = {
  organization: '2.5.4.10',
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

/** Bits of the extension `keyUsage`. */
const usage = { digitalSignature: 0x80, keyCertSign: 0x04, cRLSign: 0x02 } as const

/**
 * An authority that signs certificates for servers and clients.
 *
 * @example
 * const authority = CertificateAuthority.create('embedded-cluster')
 * const server = authority.issueServer({ hosts: ['localhost', '127.0.0.1'] })
 * const admin = authority.issueClient({ username: 'admin', groups: ['system:masters'] })
 */
export class CertificateAuthority {
  /** The authority's own certificate in PEM, which clients trust. */
  readonly certificate: string
  /** In PEM, to store the authority across restarts. */
  readonly privateKey: string
  readonly #signingKey: KeyObject
  /** The subject as it is encoded in the certificate: verifiers compare it with the issuer of other certificates. */
  readonly #name: Uint8Array
  readonly #keyIdentifier: Uint8Array

  private constructor(pair: KeyPair, signingKey: KeyObject) {
    this.certificate = pair.certificate
    this.privateKey = pair.privateKey
    this.#signingKey = signingKey
    const { subject, publicKey } = partsOf(pair.certificate)
    this.#name = subject
    this.#keyIdentifier = keyIdentifier(publicKey)
  }

  /** Creates a new authority with a fresh key. */
  static create(commonName: string, validity: Validity = {}): CertificateAuthority {
    const keys = generateKeys()
    const name = distinguishedName([[oid.commonName, commonName]])
    const certificate = signed(keys.privateKey, {
      issuer: name,
      subject: name,
      validity: period(validity, AUTHORITY_VALIDITY_MS),
      publicKey: keys.publicKey,
      extensions: [
        criticalExtension(oid.basicConstraints, sequence(isTrue)),
        criticalExtension(oid.keyUsage, namedBits(usage.keyCertSign | usage.digitalSignature | usage.cRLSign)),
        extension(oid.subjectKeyIdentifier, octetString(keyIdentifier(keys.publicKey))),
      ],
    })
    return new CertificateAuthority({ certificate, privateKey: exportKey(keys.privateKey) }, keys.privateKey)
  }

  /** Loads an existing authority from its certificate and P-256 key in PEM. */
  static load(pair: KeyPair): CertificateAuthority {
    return new CertificateAuthority(pair, createPrivateKey(pair.privateKey))
  }

  /** Signs a certificate for a TLS server. */
  issueServer(options: ServerCertificateOptions): KeyPair {
    const [first] = options.hosts
    if (first === undefined) throw new RangeError('a server certificate needs at least one host')
    const names = extension(oid.subjectAltName, sequence(...options.hosts.map(generalName)))
    return this.#issue([[oid.commonName, first]], oid.serverAuth, [names], options)
  }

  /** Signs a certificate that authenticates a user. */
  issueClient(options: ClientCertificateOptions): KeyPair {
    const groups = (options.groups ?? []).map((group) => [oid.organization, group] as const)
    return this.#issue([...groups, [oid.commonName, options.username]], oid.clientAuth, [], options)
  }

  #issue(
    subject: readonly (readonly [attribute: string, value: string])[],
    purpose: string,
    names: readonly Uint8Array[],
    validity: Validity,
  ): KeyPair {
    const keys = generateKeys()
    const certificate = signed(this.#signingKey, {
      issuer: this.#name,
      subject: distinguishedName(subject),
      validity: period(validity, LEAF_VALIDITY_MS),
      publicKey: keys.publicKey,
      extensions: [
        criticalExtension(oid.basicConstraints, sequence()),
        criticalExtension(oid.keyUsage, namedBits(usage.digitalSignature)),
        extension(oid.extendedKeyUsage, sequence(objectIdentifier(purpose))),
        extension(oid.authorityKeyIdentifier, sequence(contextPrimitive(0, this.#keyIdentifier))),
        ...names,
      ],
    })
    return { certificate, privateKey: exportKey(keys.privateKey) }
  }
}

interface Keys {
  /** An encoded `SubjectPublicKeyInfo`. */
  readonly publicKey: Buffer
  readonly privateKey: KeyObject
}

/** P-256 keys are generated in under a millisecond, where RSA keys would dominate the start of a cluster. */
function generateKeys(): Keys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { publicKey: publicKey.export({ type: 'spki', format: 'der' }), privateKey }
}

function exportKey(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}

interface CertificateContent {
  /** Encoded, like all but the validity. */
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  readonly validity: { readonly notBefore: Date; readonly notAfter: Date }
  readonly publicKey: Uint8Array
  readonly extensions: readonly Uint8Array[]
}

/** A certificate in PEM: RFC 5280, section 4.1. */
function signed(key: KeyObject, content: CertificateContent): string {
  const algorithm = sequence(objectIdentifier(oid.ecdsaWithSha256))
  const version3 = contextConstructed(0, integer(Buffer.from([2])))
  const toSign = sequence(
    version3,
    integer(serialNumber()),
    algorithm,
    content.issuer,
    sequence(time(content.validity.notBefore), time(content.validity.notAfter)),
    content.subject,
    content.publicKey,
    contextConstructed(3, sequence(...content.extensions)),
  )
  const certificate = sequence(toSign, algorithm, bitString(sign('sha256', toSign, key)))
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** The encoded subject and public key of a certificate in PEM. */
function partsOf(certificate: string): { readonly subject: Uint8Array; readonly publicKey: Uint8Array } {
  const [toSign] = itemsOf(Buffer.from(certificate.replace(/-----[^-]+-----|\s/g, ''), 'base64'))
  const [, , , , , subject, publicKey] = itemsOf(toSign ?? Buffer.alloc(0))
  if (subject === undefined || publicKey === undefined)
    throw new TypeError('the certificate of the authority is damaged')
  return { subject, publicKey }
}

/** Each attribute in its own set, in the given order. */
function distinguishedName(attributes: readonly (readonly [attribute: string, value: string])[]): Buffer {
  return sequence(
    ...attributes.map(([attribute, value]) => setOf(sequence(objectIdentifier(attribute), utf8String(value)))),
  )
}

function extension(id: string, value: Uint8Array): Buffer {
  return sequence(objectIdentifier(id), octetString(value))
}

/** An extension that a verifier must understand. */
function criticalExtension(id: string, value: Uint8Array): Buffer {
  return sequence(objectIdentifier(id), isTrue, octetString(value))
}

/** The hash that RFC 5280 suggests (section 4.2.1.2), of the key without its algorithm. */
function keyIdentifier(publicKey: Uint8Array): Buffer {
  const [, bits = Buffer.alloc(0)] = itemsOf(publicKey)
  // Tag, length and the number of unused bits come before a P-256 key, which is shorter than 128 bytes.
  return createHash('sha1').update(bits.subarray(3)).digest()
}

/** A name in `subjectAltName`: a DNS name or the bytes of an IP address. */
function generalName(host: string): Buffer {
  return isIP(host) === 0 ? contextPrimitive(2, Buffer.from(host)) : contextPrimitive(7, addressBytes(host))
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  // The parser of URLs knows every spelling of IPv6 addresses and writes the shortest one, in hexadecimal.
  const [left = '', right] = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function period(validity: Validity, defaultMs: number): { notBefore: Date; notAfter: Date } {
  const now = validity.now ?? Date.now()
  return { notBefore: new Date(now - BACKDATE_MS), notAfter: new Date(now + (validity.validityMs ?? defaultMs)) }
}

/** A positive number of 16 bytes: the top bit is cleared, because DER would read it as negative. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}
