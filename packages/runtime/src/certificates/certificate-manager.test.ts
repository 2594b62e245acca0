import { SimulatedClock } from '@reeve/http/testing'
import { ApiError, MutatingWebhookConfigurations, Secrets, ValidatingWebhookConfigurations } from '@reeve/kube'
import { expect, test } from 'vitest'
import { type Faults, MemoryCluster } from '../../test/support/memory-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { CertificateManager, type CertificateManagerOptions } from './certificate-manager.ts'
import { coversHosts, isSignedBy, parseCertificates, readCertificateSet } from './certificate-set.ts'
import { serviceHosts } from './issue-certificate.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const secret = { namespace: 'shop', name: 'webhook-tls' }
const hosts = [...serviceHosts({ namespace: 'shop', name: 'webhook' }), '10.0.0.1']
const never = new AbortController().signal

function world() {
  const clock = new SimulatedClock()
  const cluster = new MemoryCluster(clock)
  const replica = (name: string, options: Partial<CertificateManagerOptions> = {}, faults: Faults = {}) =>
    new CertificateManager(cluster.client(name, faults), {
      secret,
      hosts,
      clock,
      random: seededRandom(name.charCodeAt(0)),
      ...options,
    })
  const stored = () => readCertificateSet(cluster.peek(Secrets, secret)?.data)
  return { clock, cluster, replica, stored }
}

async function webhookConfiguration(cluster: MemoryCluster) {
  await cluster.client('admin').create(ValidatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'webapp' },
    webhooks: [
      {
        name: 'webapp.example.com',
        clientConfig: { service: { namespace: 'shop', name: 'webhook' } },
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  })
  return () => {
    const [webhook] = cluster.peek(ValidatingWebhookConfigurations, { name: 'webapp' })?.webhooks ?? []
    return Buffer.from(webhook?.clientConfig.caBundle ?? '', 'base64').toString()
  }
}

test('the first check stores a whole set in a TLS secret and serves its certificate', async () => {
  const { replica, cluster, stored } = world()
  const certificates = replica('a')
  expect(() => certificates.checkHealth()).toThrow('no certificate has been issued yet')
  await certificates.check(never)
  const set = stored()
  expect(cluster.peek(Secrets, secret)).toMatchObject({
    type: 'kubernetes.io/tls',
  })
  expect(set && isSignedBy(set.serving, set.authorities[0])).toBe(true)
  expect(set && coversHosts(set.serving, hosts)).toBe(true)
  expect(set && coversHosts(set.serving, ['evil.example.com'])).toBe(false)
  expect(certificates.current?.certificate).toBe(set?.serving.pem)
  expect(certificates.bundle).toBe(set?.authorities[0].pem)
  certificates.checkHealth()
})

test('checking again while nothing is due writes nothing', async () => {
  const { replica, cluster, clock } = world()
  const certificates = replica('a')
  await certificates.check(never)
  const writes = cluster.writes.length
  await clock.advance(30 * DAY_MS)
  await certificates.check(never)
  expect(cluster.writes.length).toBe(writes)
})

test('replicas that start together agree on one set', async () => {
  const { replica, stored } = world()
  const replicas = ['a', 'b', 'c'].map((name) => replica(name))
  await Promise.all(replicas.map((certificates) => certificates.check(never)))
  for (const certificates of replicas) expect(certificates.current?.certificate).toBe(stored()?.serving.pem)
})

test('a secret that was damaged, or belongs together no more, is replaced and its other keys stay', async () => {
  const { replica, cluster, stored } = world()
  await replica('a').check(never)
  const good = cluster.peek(Secrets, secret)?.data ?? {}
  const admin = cluster.client('admin')
  for (const damage of [{ 'tls.crt': 'bm8=' }, { 'tls.key': good['ca.key'] }, { 'ca.crt': '' }, { 'ca.key': '!' }]) {
    await admin.patch(Secrets, secret, { type: 'merge', patch: { data: { ...good, ...damage, note: 'a2VwdA==' } } })
    expect(stored()).toBeUndefined()
    await replica('b').check(never)
    expect(stored()).toBeDefined()
    expect(cluster.peek(Secrets, secret)?.data?.note).toBe('a2VwdA==')
  }
})

test('a secret that was deleted is recreated, and what other replicas still show stays trusted', async () => {
  const { replica, cluster } = world()
  const [a, b] = [replica('a'), replica('b')]
  await a.check(never)
  await b.check(never)
  const before = b.current?.certificate ?? ''
  cluster.remove(Secrets, secret)
  await a.check(never)
  expect(a.current?.certificate).not.toBe(before)
  const [old] = parseCertificates(before)
  expect(parseCertificates(a.bundle ?? '').some((authority) => old && isSignedBy(old, authority))).toBe(true)
})

test('a certificate that lacks a host is reissued immediately', async () => {
  const { replica, stored } = world()
  await replica('a').check(never)
  await replica('a', { hosts: [...hosts, 'extra.example.com'] }).check(never)
  expect(stored()?.serving.x509.subjectAltName).toContain('DNS:extra.example.com')
})

test('through rotations of certificate and authority every replica always serves a certificate that the API server trusts', async () => {
  const { clock, cluster, replica } = world()
  const bundle = await webhookConfiguration(cluster)
  const inject = { validating: ['webapp'] }
  const options = { inject, overlapMs: 8 * DAY_MS, checkIntervalMs: 4 * DAY_MS }
  const random = seededRandom(1)
  const replicas = ['a', 'b', 'c'].map((name) => ({ certificates: replica(name, options), dueMs: 0 }))
  const [serving, authorities] = [new Set<string>(), new Set<string>()]
  const endMs = clock.now() + 450 * DAY_MS
  while (clock.now() < endMs) {
    const due = replicas.filter(({ dueMs }) => dueMs <= clock.now())
    await Promise.all(due.map(({ certificates }) => certificates.check(never)))
    for (const each of due) each.dueMs = clock.now() + 4 * DAY_MS * (0.9 + 0.2 * random())
    const trusted = parseCertificates(bundle())
    expect(trusted.length).toBeLessThanOrEqual(2)
    for (const { pem } of trusted) authorities.add(pem)
    for (const { certificates } of replicas) {
      const [shown] = parseCertificates(certificates.current?.certificate ?? '')
      if (shown === undefined) throw new Error('a replica shows no certificate')
      serving.add(shown.pem)
      const isTrusted = trusted.some((authority) => authority.expiresMs > clock.now() && isSignedBy(shown, authority))
      expect([isTrusted, shown.expiresMs > clock.now()]).toEqual([true, true])
    }
    await clock.advance(2 * DAY_MS)
  }
  expect(serving.size).toBeGreaterThan(6)
  expect(authorities.size).toBeGreaterThan(1)
}, 30_000)

test('after a long sleep with everything expired it starts over', async () => {
  const { clock, replica, stored } = world()
  const certificates = replica('a')
  await certificates.check(never)
  await clock.advance(500 * DAY_MS)
  expect(() => certificates.checkHealth()).toThrow('has expired')
  await certificates.check(never)
  certificates.checkHealth()
  expect(stored()?.authorities).toHaveLength(1)
})

test('a bundle that was removed is written again at the next check, and only then', async () => {
  const { clock, cluster, replica } = world()
  const bundle = await webhookConfiguration(cluster)
  const certificates = replica('a', { inject: { validating: ['webapp'] } })
  const stop = new AbortController()
  await certificates.check(never)
  const run = certificates.run(stop.signal)
  const writes = cluster.writes.length
  await clock.advance(HOUR_MS)
  expect(cluster.writes.length).toBe(writes)
  const wiped = [{ op: 'remove', path: '/webhooks/0/clientConfig/caBundle' }] as const
  const admin = cluster.client('admin')
  await admin.patch(ValidatingWebhookConfigurations, { name: 'webapp' }, { type: 'json', patch: wiped })
  await clock.advance(70_000)
  expect(bundle()).toBe(certificates.bundle)
  expect(cluster.writes.length).toBe(writes + 2)
  stop.abort()
  await clock.runToCompletion(run)
})

test('a target that is missing keeps neither the certificate nor the other targets waiting', async () => {
  const { clock, cluster, replica } = world()
  const bundle = await webhookConfiguration(cluster)
  const certificates = replica('a', { inject: { mutating: ['later'], validating: ['webapp'] } })
  const stop = new AbortController()
  await certificates.check(never)
  const run = certificates.run(stop.signal)
  await certificates.whenReady(never)
  expect(bundle()).toBe(certificates.bundle)
  const { webhooks } = cluster.peek(ValidatingWebhookConfigurations, { name: 'webapp' }) ?? {}
  await cluster.client('admin').create(MutatingWebhookConfigurations, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'later' },
    webhooks: (webhooks ?? []).map((webhook) => ({ ...webhook, clientConfig: { url: 'https://x' } })),
  })
  await clock.advance(5_000)
  const [late] = cluster.peek(MutatingWebhookConfigurations, { name: 'later' })?.webhooks ?? []
  expect(late?.clientConfig.caBundle).toBe(Buffer.from(certificates.bundle ?? '').toString('base64'))
  stop.abort()
  await clock.runToCompletion(run)
})

test('an unavailable server delays the certificate and is retried soon', async () => {
  let isAway = true
  const { clock, replica } = world()
  await replica('b').check(never)
  const certificates = replica(
    'a',
    {},
    {
      before: () => {
        if (isAway) throw new ApiError({ verb: 'get', group: '', resource: 'secrets' }, 503)
      },
    },
  )
  const stop = new AbortController()
  const run = certificates.run(stop.signal)
  await clock.advance(10_000)
  expect(certificates.current).toBeUndefined()
  isAway = false
  await clock.advance(20_000)
  expect(certificates.current).toBeDefined()
  stop.abort()
  await clock.runToCompletion(run)
})

test('times that would break a rotation are rejected', () => {
  const { replica } = world()
  expect(() => replica('a', { servingValidityMs: 400 * DAY_MS })).toThrow(/must be above servingValidityMs/)
  expect(() => replica('a', { servingValidityMs: HOUR_MS })).toThrow(/no time for two overlaps/)
  expect(() => replica('a', { checkIntervalMs: HOUR_MS })).toThrow(/at least twice checkIntervalMs/)
})
