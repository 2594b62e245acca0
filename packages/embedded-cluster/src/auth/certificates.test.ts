// The library that reads the certificates needs this polyfill before it is loaded.
import 'reflect-metadata'
import { KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { connect, createServer, type TLSSocket } from 'node:tls'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate as Parsed,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { CertificateAuthority, type KeyPair } from './certificates.ts'

const p256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

interface Handshake {
  readonly authorized: boolean
  readonly peer: Record<string, unknown>
}

/** One mutual TLS handshake; resolves to the client identity that the server received. */
function handshake(authority: string, server: KeyPair, client: KeyPair, servername: string): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const listener = createServer(
      { key: server.privateKey, cert: server.certificate, ca: authority, requestCert: true, rejectUnauthorized: false },
      (socket: TLSSocket) => {
        resolve({ authorized: socket.authorized, peer: { ...socket.getPeerCertificate().subject } })
        socket.end()
        listener.close()
      },
    )
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address()
      if (address === null || typeof address === 'string') return reject(new Error('no port'))
      const socket = connect({
        host: '127.0.0.1',
        port: address.port,
        servername,
        ca: authority,
        key: client.privateKey,
        cert: client.certificate,
      })
      socket.on('error', (error) => {
        listener.close()
        reject(error)
      })
      socket.on('data', () => undefined)
    })
  })
}

describe('the certificate authority', () => {
  it('signs certificates that a mutual TLS handshake accepts', async () => {
    const authority = CertificateAuthority.create('test')
    const server = authority.issueServer({ hosts: ['api.example', '127.0.0.1'] })
    const client = authority.issueClient({ username: 'jane', groups: ['devs', 'ops'] })
    const seen = await handshake(authority.certificate, server, client, 'api.example')
    expect(seen).toEqual({ authorized: true, peer: { CN: 'jane', O: ['devs', 'ops'] } })
  })

  it('signs server certificates for the named hosts only', () => {
    const authority = CertificateAuthority.create('test')
    const server = new X509Certificate(authority.issueServer({ hosts: ['a.example', '10.0.0.1'] }).certificate)
    expect(server.checkHost('a.example')).toBe('a.example')
    expect(server.checkHost('b.example')).toBeUndefined()
    expect(server.checkIP('10.0.0.1')).toBe('10.0.0.1')
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  it('continues to sign for the same trust after it is loaded from PEM', () => {
    const first = CertificateAuthority.create('test')
    const again = CertificateAuthority.load({ certificate: first.certificate, privateKey: first.privateKey })
    const leaf = new X509Certificate(again.issueClient({ username: 'x' }).certificate)
    expect(leaf.verify(new X509Certificate(first.certificate).publicKey)).toBe(true)
    expect(leaf.checkIssued(new X509Certificate(first.certificate))).toBe(true)
  })

  it('keeps a name with separators in it as one common name', () => {
    const authority = CertificateAuthority.create('test')
    const username = 'eve, O=system:masters+CN=root'
    const leaf = new X509Certificate(authority.issueClient({ username }).certificate)
    expect(leaf.toLegacyObject().subject).toEqual({ CN: username })
  })

  it('continues to sign with an authority that another library issued', async () => {
    const keys = await webcrypto.subtle.generateKey(p256, true, ['sign', 'verify'])
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: [{ CN: ['made elsewhere'] }, { O: ['Zürich'] }],
      keys,
      signingAlgorithm: p256,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    })
    const privateKey = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
    const authority = CertificateAuthority.load({ certificate: certificate.toString('pem'), privateKey })
    const server = authority.issueServer({ hosts: ['api.example'] })
    const client = authority.issueClient({ username: 'jane' })
    const seen = await handshake(authority.certificate, server, client, 'api.example')
    expect(seen).toEqual({ authorized: true, peer: { CN: 'jane' } })
  })

  it.each([
    ['::1', '::1'],
    ['2001:db8::8:800:200c:417a', '2001:0DB8:0:0:8:800:200C:417A'],
    ['fe80::', 'FE80::'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['::ffff:10.0.0.1', '::ffff:a00:1'],
    ['fe80::1', 'fe80::1%eth0'],
  ])('signs server certificates for the IPv6 address %s', (address, spelling) => {
    const { certificate } = CertificateAuthority.create('test').issueServer({ hosts: [spelling] })
    expect(new X509Certificate(certificate).checkIP(address)).toBe(address)
  })

  it('states what the keys may be used for, and whose they are', () => {
    const authority = CertificateAuthority.create('Überwachung')
    const own = new Parsed(authority.certificate)
    const leaf = new Parsed(authority.issueClient({ username: 'jane' }).certificate)
    expect(own.getExtension(BasicConstraintsExtension)).toMatchObject({ ca: true, critical: true })
    expect(leaf.getExtension(BasicConstraintsExtension)).toMatchObject({ ca: false, critical: true })
    const signing = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign
    expect(own.getExtension(KeyUsagesExtension)?.usages).toBe(KeyUsageFlags.digitalSignature | signing)
    expect(leaf.getExtension(KeyUsagesExtension)?.usages).toBe(KeyUsageFlags.digitalSignature)
    expect(leaf.getExtension(AuthorityKeyIdentifierExtension)?.keyId).toBe(
      own.getExtension(SubjectKeyIdentifierExtension)?.keyId,
    )
    expect([own.subject, leaf.issuer]).toEqual(['CN=Überwachung', 'CN=Überwachung'])
  })

  it('rejects a server certificate without a host', () => {
    const authority = CertificateAuthority.create('test')
    expect(() => authority.issueServer({ hosts: [] })).toThrow('at least one host')
  })

  it('reports a damaged certificate', () => {
    const { privateKey } = CertificateAuthority.create('test')
    const certificate = '-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'
    expect(() => CertificateAuthority.load({ certificate, privateKey })).toThrow('is damaged')
  })

  it('is valid beyond 2049, where the encoding of times changes', () => {
    const { certificate } = CertificateAuthority.create('test', {
      now: Date.UTC(2049, 11, 31, 23),
      validityMs: 7_200_000,
    })
    const { validFromDate, validToDate } = new X509Certificate(certificate)
    expect(validFromDate.toISOString()).toBe('2049-12-31T22:00:00.000Z')
    expect(validToDate.toISOString()).toBe('2050-01-01T01:00:00.000Z')
  })

  it('is valid for the requested period', () => {
    const authority = CertificateAuthority.create('test', { now: Date.UTC(2030, 0, 1), validityMs: 1000 })
    expect(new X509Certificate(authority.certificate).validToDate.toISOString()).toBe('2030-01-01T00:00:01.000Z')
  })
})
