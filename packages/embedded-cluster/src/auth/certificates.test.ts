import { X509Certificate } from 'node:crypto'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { CertificateAuthority, type KeyPair } from './certificates.ts'

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
    const authority = await CertificateAuthority.create('test')
    const server = await authority.issueServer({ hosts: ['api.example', '127.0.0.1'] })
    const client = await authority.issueClient({ username: 'jane', groups: ['devs', 'ops'] })
    const seen = await handshake(authority.certificate, server, client, 'api.example')
    expect(seen).toEqual({ authorized: true, peer: { CN: 'jane', O: ['devs', 'ops'] } })
  })

  it('signs server certificates for the named hosts only', async () => {
    const authority = await CertificateAuthority.create('test')
    const server = new X509Certificate((await authority.issueServer({ hosts: ['a.example', '10.0.0.1'] })).certificate)
    expect(server.checkHost('a.example')).toBe('a.example')
    expect(server.checkHost('b.example')).toBeUndefined()
    expect(server.checkIP('10.0.0.1')).toBe('10.0.0.1')
    expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  it('continues to sign for the same trust after it is loaded from PEM', async () => {
    const first = await CertificateAuthority.create('test')
    const again = await CertificateAuthority.load({ certificate: first.certificate, privateKey: first.privateKey })
    const leaf = new X509Certificate((await again.issueClient({ username: 'x' })).certificate)
    expect(leaf.verify(new X509Certificate(first.certificate).publicKey)).toBe(true)
    expect(leaf.checkIssued(new X509Certificate(first.certificate))).toBe(true)
  })

  it('keeps a name with separators in it as one common name', async () => {
    const authority = await CertificateAuthority.create('test')
    const username = 'eve, O=system:masters+CN=root'
    const leaf = new X509Certificate((await authority.issueClient({ username })).certificate)
    expect(leaf.toLegacyObject().subject).toEqual({ CN: username })
  })

  it('rejects a server certificate without a host', async () => {
    const authority = await CertificateAuthority.create('test')
    expect(() => authority.issueServer({ hosts: [] })).toThrow('at least one host')
  })

  it('is valid for the requested period', async () => {
    const authority = await CertificateAuthority.create('test', { now: Date.UTC(2030, 0, 1), validityMs: 1000 })
    expect(new X509Certificate(authority.certificate).validToDate.toISOString()).toBe('2030-01-01T00:00:01.000Z')
  })
})
