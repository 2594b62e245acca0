import { createPrivateKey, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type CertificateData, renewCertificates, trustBundle } from './certificate-data.ts'

const HOST = 'dynatrace-webhook.dynatrace.svc'
const START_MS = Date.UTC(2030, 0, 1)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const first = () => renewCertificates({}, HOST, START_MS)
const later = (data: Partial<CertificateData>, ms: number) => renewCertificates(data, HOST, START_MS + ms)

describe('the first certificates', () => {
  it('are an authority without names and a server certificate for the one host', async () => {
    const { data, renewed, wasUsable } = await first()
    expect({ renewed, wasUsable, former: data['ca.crt.old'] }).toEqual({
      renewed: 'authority',
      wasUsable: false,
      former: '',
    })
    const [authority, server] = [new X509Certificate(data['ca.crt']), new X509Certificate(data['tls.crt'])]
    const subject = `C=AT\nST=UA\nL=Linz\nO=Dynatrace\nOU=OneAgent Webhook\nCN=${HOST}`
    expect([authority.subject, server.subject]).toEqual([subject, subject])
    expect([authority.ca, server.ca]).toEqual([true, false])
    expect([authority.subjectAltName, server.subjectAltName]).toEqual([undefined, `DNS:${HOST}`])
    expect([authority.keyUsage, server.keyUsage]).toEqual([['1.3.6.1.5.5.7.3.1'], ['1.3.6.1.5.5.7.3.1']])
    expect(authority.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1')
    expect(server.verify(authority.publicKey)).toBe(true)
    expect(authority.validToDate.getTime()).toBe(START_MS + 365 * DAY_MS)
    expect(server.validToDate.getTime()).toBe(START_MS + 7 * DAY_MS)
    expect(authority.serialNumber.length).toBeLessThanOrEqual(32)
  })
})

describe('a renewal', () => {
  it('changes nothing while nothing is due', async () => {
    const { data } = await first()
    expect(await later(data, 7 * DAY_MS - 12 * HOUR_MS)).toEqual({ data, renewed: 'nothing', wasUsable: true })
  })

  it('replaces only the server certificate 12 hours before it expires', async () => {
    const { data } = await first()
    const { data: next, renewed } = await later(data, 6 * DAY_MS + 22 * HOUR_MS)
    expect(renewed).toBe('serving')
    expect(next['tls.crt']).not.toBe(data['tls.crt'])
    expect(next['tls.key']).not.toBe(data['tls.key'])
    expect(next).toMatchObject({ 'ca.crt': data['ca.crt'], 'ca.key': data['ca.key'], 'ca.crt.old': '' })
  })

  it('replaces both 12 hours before the end of the authority, and keeps the former in the bundle', async () => {
    const { data } = await first()
    const { data: next, renewed } = await later(data, 364 * DAY_MS + 22 * HOUR_MS)
    expect(renewed).toBe('authority')
    expect(next['ca.crt.old']).toBe(data['ca.crt'])
    expect(trustBundle(next)).toBe(`${next['ca.crt']}${data['ca.crt']}`)
    expect(new X509Certificate(next['tls.crt']).verify(new X509Certificate(next['ca.crt']).publicKey)).toBe(true)
  })

  it('never lets a server certificate outlive its authority', async () => {
    const { data } = await first()
    const { data: next } = await later(data, 362 * DAY_MS)
    expect(new X509Certificate(next['tls.crt']).validToDate.getTime()).toBe(START_MS + 365 * DAY_MS)
    expect((await later(next, 364 * DAY_MS)).renewed).toBe('nothing')
  })

  it.each<[string, Partial<CertificateData>, string]>([
    ['the authority is missing', { 'ca.crt': '' }, 'authority'],
    ['the authority is garbage', { 'ca.crt': 'garbage' }, 'authority'],
    ['the key of the authority is garbage', { 'ca.key': 'garbage' }, 'authority'],
    ['the certificate is missing', { 'tls.crt': '' }, 'serving'],
    [
      'the certificate is garbage',
      { 'tls.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'serving',
    ],
    ['the key is missing', { 'tls.key': '' }, 'serving'],
  ])('happens when %s', async (_, broken, renewed) => {
    const { data } = await first()
    expect(await later({ ...data, ...broken }, 0)).toMatchObject({ renewed })
  })

  it('happens when another authority signed, or for another host', async () => {
    const [{ data }, { data: other }] = await Promise.all([first(), first()])
    const mixed = { ...data, 'tls.crt': other['tls.crt'], 'tls.key': other['tls.key'] }
    expect(await later(mixed, 0)).toMatchObject({ renewed: 'serving', wasUsable: false })
    expect(await renewCertificates(data, 'dynatrace-webhook.other.svc', START_MS)).toMatchObject({ renewed: 'serving' })
  })

  it('keeps garbage out of the bundle: the API server would refuse it all', async () => {
    const { data } = await first()
    const { data: next } = await later({ ...data, 'ca.crt': 'garbage' }, 0)
    expect(next['ca.crt.old']).toBe('')
    expect((await later({ ...data, 'ca.crt.old': 'garbage' }, 0)).data['ca.crt.old']).toBe('')
  })

  it('takes over a Secret whose keys have the label of another encoding', async () => {
    const { data } = await first()
    const mislabel = (pem: string) =>
      createPrivateKey(pem)
        .export({ type: 'sec1', format: 'pem' })
        .toString()
        .replaceAll('EC PRIVATE KEY', 'PRIVATE KEY')
    const foreign = { ...data, 'ca.key': mislabel(data['ca.key']), 'tls.key': mislabel(data['tls.key']) }
    expect((await later(foreign, 0)).renewed).toBe('nothing')
    const { data: next, renewed } = await later(foreign, 6 * DAY_MS + 22 * HOUR_MS)
    expect(renewed).toBe('serving')
    expect(new X509Certificate(next['tls.crt']).verify(new X509Certificate(data['ca.crt']).publicKey)).toBe(true)
  })
})
