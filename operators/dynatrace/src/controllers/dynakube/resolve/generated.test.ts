import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../../api/latest.ts'
import { type SelfSignedSubject, selfSigned } from '../../generated/self-signed.ts'
import { StatusDraft } from '../status-draft.ts'
import { KNOWN_STATUS, renderInput } from '../testing/render-input.ts'
import { resolveActiveGateCertificate, resolveExtensions } from './generated.ts'
import type { ClusterPass } from './pass.ts'

const clock = { now: () => Date.UTC(2026, 0, 1) }
const addresses = ['10.96.0.7', 'fd00::7']

/** A pass over a namespace without Secrets, in which certificates are made by the given function. */
function passWith(spec: Partial<DynaKubeSpec>, make: ClusterPass['selfSigned']): ClusterPass {
  const status = { ...KNOWN_STATUS, activeGate: { ...KNOWN_STATUS.activeGate, serviceIPs: addresses } }
  const { dynakube, operator } = renderInput(spec, { status })
  const parts = {
    draft: StatusDraft.of(dynakube, clock),
    view: { namespace: 'dynatrace', secret: () => undefined },
    operator,
    clock,
    randomBytes: (count: number) => new Uint8Array(count),
    selfSigned: make,
    signal: new AbortController().signal,
  }
  // As much of a pass as these steps look at.
  return parts as unknown as ClusterPass
}

const gateway: Partial<DynaKubeSpec> = { activeGate: { capabilities: ['routing'] } }

describe('certificates that the operator makes', () => {
  it('name their Service in every spelling, and the addresses of gateways (gateway 15)', async () => {
    const subjects: SelfSignedSubject[] = []
    const make: ClusterPass['selfSigned'] = async (subject) => {
      subjects.push(subject)
      return { certificate: 'certificate', privateKey: 'key' }
    }
    await resolveActiveGateCertificate(passWith(gateway, make))
    await resolveExtensions(passWith({ extensions: { prometheus: {} } }, make))
    const spellings = (host: string) => [host, `${host}.svc`, `${host}.svc.cluster.local`]
    expect(subjects).toEqual([
      { commonName: 'dk-activegate.dynatrace', hosts: spellings('dk-activegate.dynatrace'), addresses },
      {
        commonName: 'dk-extension-controller.dynatrace',
        hosts: spellings('dk-extension-controller.dynatrace'),
        addresses: [],
      },
    ])
  })

  it.each([
    ['TLSSecret', gateway, resolveActiveGateCertificate],
    ['ExtensionsTLSSecret', { extensions: { prometheus: {} } }, resolveExtensions],
  ] as const)('tell in %s when they cannot be made', async (type, spec, resolve) => {
    const pass = passWith(spec, () => Promise.reject(new Error('no entropy')))
    await expect(resolve(pass)).rejects.toThrow('no entropy')
    expect(pass.draft.condition(type)).toMatchObject({
      status: 'False',
      reason: 'SecretGenerationFailed',
      message: expect.stringContaining('no entropy'),
    })
  })

  // Primes of 2048 bits are found when they are found.
  it('last, sign for themselves and are no authority (gateway 15)', { timeout: 240_000 }, async () => {
    const pair = await selfSigned({ commonName: 'a.b', hosts: ['a.b', 'a.b.svc'], addresses }, clock)
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
