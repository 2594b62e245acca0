import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../api/latest.ts'
import { LimitedCertificates } from '../generated/limited-certificates.ts'
import { generateKeys, type MakeCertificate, type SelfSignedSubject, selfSigned } from '../generated/self-signed.ts'
import { activeGateCertificate } from './components/active-gate/certificate.ts'
import { certificateKeys } from './components/certificate-keys/certificate-keys.ts'
import { extensions } from './components/extensions/extensions.ts'
import type { DynaKubeContext } from './dynakube-component.ts'
import { KNOWN_STATUS, renderInput } from './testing/render-input.ts'
import { reporterOf } from './testing/reporter.ts'

const clock = { now: () => Date.UTC(2026, 0, 1) }
const addresses = ['10.96.0.7', 'fd00::7']

/** The context of a DynaKube without Secrets, with this function that generates certificates. */
function contextWith(spec: Partial<DynaKubeSpec>, make: MakeCertificate): DynaKubeContext {
  const status = { ...KNOWN_STATUS, activeGate: { ...KNOWN_STATUS.activeGate, serviceIPs: addresses } }
  const { primary } = renderInput(spec, { status })
  const parts = {
    primary,
    reporter: reporterOf(primary, clock),
    cache: { get: () => undefined },
    clock,
    dependencies: {
      randomBytes: (count: number) => new Uint8Array(count),
      certificates: new LimitedCertificates(make),
    },
    signal: new AbortController().signal,
  }
  // As much of a context as making certificates reads.
  return parts as unknown as DynaKubeContext
}

const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }

describe('certificates that the operator makes', () => {
  it('name their Service in every form, and the addresses of gateways', async () => {
    const subjects: SelfSignedSubject[] = []
    const make: MakeCertificate = async (subject) => {
      subjects.push(subject)
      return { certificate: 'certificate', privateKey: 'key' }
    }
    await activeGateCertificate.resolve?.(contextWith(gateway, make))
    await extensions.resolve?.(contextWith({ extensions: { prometheus: {} } }, make))
    const forms = (host: string) => [host, `${host}.svc`, `${host}.svc.cluster.local`]
    expect(subjects).toEqual([
      { commonName: 'dk-activegate.dynatrace', hosts: forms('dk-activegate.dynatrace'), addresses },
      {
        commonName: 'dk-extension-controller.dynatrace',
        hosts: forms('dk-extension-controller.dynatrace'),
        addresses: [],
      },
    ])
  })

  it.each([
    ['with gateways and extensions', { ...gateway, extensions: { prometheus: {} } }, 2],
    ['with gateways', gateway, 1],
    ['whose user has a certificate', { activeGate: { ...gateway.activeGate, tlsSecretName: 'mine' } }, 0],
    ['without either', {}, 0],
  ] as const)('have keys that are begun early for a DynaKube %s', (_title, spec, expected) => {
    const counts: number[] = []
    const context = contextWith(spec, () => Promise.reject(new Error('not needed yet')))
    const dependencies = { ...context.dependencies, prepareKeys: (count: number) => counts.push(count) }
    certificateKeys.resolve?.({ ...context, dependencies })
    expect(counts).toEqual([expected])
  })

  it.each([
    ['TLSSecret', gateway, activeGateCertificate],
    ['ExtensionsTLSSecret', { extensions: { prometheus: {} } }, extensions],
  ] as const)('report a failure in %s', async (type, spec, component) => {
    const context = contextWith(spec, () => Promise.reject(new Error('no entropy')))
    await expect(component.resolve?.(context)).rejects.toThrow('no entropy')
    expect(context.reporter.condition(type)).toMatchObject({
      status: 'False',
      reason: 'SecretGenerationFailed',
      message: expect.stringContaining('no entropy'),
    })
  })

  // The time to find primes of 2048 bits varies.
  it('are long-lived, self-signed and not a CA', { timeout: 240_000 }, async () => {
    const subject = { commonName: 'a.b', hosts: ['a.b', 'a.b.svc'], addresses }
    const pair = await selfSigned(subject, clock, await generateKeys())
    const certificate = new X509Certificate(pair.certificate)
    expect(certificate.subjectAltName).toBe('DNS:a.b, DNS:a.b.svc, IP Address:10.96.0.7, IP Address:FD00:0:0:0:0:0:0:7')
    expect(certificate.subject.split('\n')).toEqual(['C=AT', 'ST=UA', 'L=Linz', 'O=Dynatrace', 'OU=Operator', 'CN=a.b'])
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(certificate.ca).toBe(false)
    expect(certificate.publicKey.asymmetricKeyDetails?.modulusLength).toBe(4096)
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    const days = (certificate.validToDate.getTime() - certificate.validFromDate.getTime()) / 86_400_000
    expect(days).toBe(36_500)
    expect(pair.privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
  })
})
