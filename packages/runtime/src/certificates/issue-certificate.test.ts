import { X509Certificate } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:tls'
import { expect, test } from 'vitest'
import { type CertificateProfile, issueAuthority, issueServing } from './issue-certificate.ts'

const validity = { nowMs: Date.UTC(2030, 0, 1), validityMs: 86_400_000 }
const subject = [
  ['C', 'AT'],
  ['O', 'Example'],
  ['CN', 'webhook.shop.svc'],
] as const

test('a profile sets the subject, in its order, and what keys are for', async () => {
  const profile: CertificateProfile = { subject, keyUsages: ['keyCertSign', 'digitalSignature'], isForServers: true }
  const authority = await issueAuthority('ignored', validity, profile)
  const serving = await issueServing(authority, ['webhook.shop.svc'], validity, { subject })
  const [issuer, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(serving.certificate)]
  expect(issuer.subject).toBe('C=AT\nO=Example\nCN=webhook.shop.svc')
  expect(issuer.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(leaf.subject).toBe(issuer.subject)
  expect(leaf.subjectAltName).toBe('DNS:webhook.shop.svc')
  expect(leaf.checkIssued(issuer) && leaf.verify(issuer.publicKey)).toBe(true)
})

test('a server whose certificate has the subject of its authority is trusted', async () => {
  const now = { nowMs: Date.now(), validityMs: 3_600_000 }
  const authority = await issueAuthority('a', now, { subject })
  const { certificate, privateKey } = await issueServing(authority, ['webhook.shop.svc'], now, { subject })
  const server = createServer({ cert: certificate, key: privateKey }, (socket) => socket.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server that listens has one
  const socket = connect({ host: '127.0.0.1', port, servername: 'webhook.shop.svc', ca: authority.certificate })
  await new Promise<void>((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  expect(socket.authorized).toBe(true)
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

test('a common name is cut to what a certificate may hold; the alternative name is whole', async () => {
  const host = `webhook.${'n'.repeat(63)}.svc`
  const authority = await issueAuthority('a', validity, { subject: [['CN', host]] })
  const serving = await issueServing(authority, [host], validity)
  expect(new X509Certificate(authority.certificate).subject).toHaveLength('CN='.length + 64)
  expect(new X509Certificate(serving.certificate).subjectAltName).toBe(`DNS:${host}`)
})

test('two authorities of one subject are distinguished by their keys', async () => {
  const [one, two] = await Promise.all([
    issueAuthority('a', validity, { subject }),
    issueAuthority('a', validity, { subject }),
  ])
  const serving = await issueServing(two, ['webhook.shop.svc'], validity, { subject })
  const leaf = new X509Certificate(serving.certificate)
  expect(leaf.verify(new X509Certificate(one.certificate).publicKey)).toBe(false)
  expect(leaf.verify(new X509Certificate(two.certificate).publicKey)).toBe(true)
})
