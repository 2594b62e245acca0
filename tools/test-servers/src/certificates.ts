/** Certificates for tests that need real TLS. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

/** A certificate and its key, both PEM. */
export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

/** A certificate authority that signs on demand. */
export interface TestAuthority {
  readonly certificate: string
  /** A server certificate for `localhost`, 127.0.0.1 and the given names. */
  server(...names: string[]): Promise<KeyPair>
  /** A client certificate with this common name. */
  client(commonName: string): Promise<KeyPair>
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** Creates a new authority with a random key. */
export async function createAuthority(name: string): Promise<TestAuthority> {
  x509.cryptoProvider.set(webcrypto)
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...validity(),
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  })
  const issue = async (subject: string, extensions: x509.Extension[]): Promise<KeyPair> => {
    const own = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
    const certificate = await x509.X509CertificateGenerator.create({
      subject,
      issuer: authority.subject,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      ...validity(),
      extensions,
    })
    const exported = await webcrypto.subtle.exportKey('pkcs8', own.privateKey)
    return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(exported, 'PRIVATE KEY') }
  }
  return {
    certificate: authority.toString('pem'),
    server: (...names) => {
      const dns = ['localhost', ...names].map((value) => ({ type: 'dns' as const, value }))
      return issue('CN=server', [
        new x509.SubjectAlternativeNameExtension([...dns, { type: 'ip', value: '127.0.0.1' }]),
      ])
    },
    client: (commonName) => issue(`CN=${commonName}`, []),
  }
}

function validity() {
  const hour = 3_600_000
  return { notBefore: new Date(Date.now() - hour), notAfter: new Date(Date.now() + hour) }
}
