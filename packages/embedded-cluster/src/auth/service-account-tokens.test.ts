import { createSign, generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { Clock } from '../clock.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'

const HOUR_MS = 3_600_000

function fixture() {
  const api = fakeClusterApi({
    serviceaccounts: [{ metadata: { namespace: 'ci', name: 'builder', uid: 'u1' } }],
    pods: [{ metadata: { namespace: 'ci', name: 'p', uid: 'pod-1' } }],
  })
  let now = Date.UTC(2026, 0, 1)
  const clock: Clock = { now: () => now, schedule: () => ({ cancel: () => undefined }) }
  const tokens = new ServiceAccountTokens({ api, clock, randomUuid: () => 'id-1' })
  const advance = (ms: number) => {
    now += ms
  }
  return { api, clock, tokens, advance }
}
const subject = { namespace: 'ci', name: 'builder', uid: 'u1' }

describe('service account tokens', () => {
  it('authenticate the account while they are valid', () => {
    const { tokens, advance } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600 })
    expect(tokens.verify(token)?.user).toEqual({
      username: 'system:serviceaccount:ci:builder',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id-1'] },
    })
    advance(HOUR_MS)
    expect(tokens.verify(token)).toBeUndefined()
  })

  it('are rejected for another audience', () => {
    const { tokens } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600, audiences: ['vault'] })
    expect(tokens.verify(token)).toBeUndefined()
    expect(tokens.verify(token, ['other', 'vault'])?.audiences).toEqual(['vault'])
  })

  it('become invalid when the account is deleted, even if one of the same name is created', async () => {
    const { api, tokens } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600 })
    await api.delete('serviceaccounts', 'ci', 'builder')
    expect(tokens.verify(token)).toBeUndefined()
    api.put('serviceaccounts', { metadata: { namespace: 'ci', name: 'builder', uid: 'u2' } })
    expect(tokens.verify(token)).toBeUndefined()
  })

  it('become invalid when the pod they are bound to is deleted', async () => {
    const { api, tokens } = fixture()
    const boundObject = { kind: 'Pod', name: 'p', uid: 'pod-1' } as const
    const { token } = tokens.issue(subject, { expirationSeconds: 3600, boundObject, node: { name: 'n', uid: 'n-1' } })
    expect(tokens.verify(token)?.user.extra).toMatchObject({
      'authentication.kubernetes.io/pod-name': ['p'],
      'authentication.kubernetes.io/node-name': ['n'],
    })
    await api.delete('pods', 'ci', 'p')
    expect(tokens.verify(token)).toBeUndefined()
  })

  it('stay valid across a restart that keeps the key', () => {
    const { api, clock, tokens } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600 })
    const again = new ServiceAccountTokens({ api, clock, privateKey: tokens.privateKey })
    expect(again.verify(token)?.user.username).toBe('system:serviceaccount:ci:builder')
    expect(new ServiceAccountTokens({ api, clock }).verify(token)).toBeUndefined()
  })

  it('are rejected if signed with another algorithm or not at all', () => {
    const { tokens } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600 })
    const [, payload] = token.split('.')
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    expect(tokens.verify(`${part({ alg: 'none' })}.${payload}.`)).toBeUndefined()
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const signed = `${part({ alg: 'RS256' })}.${payload}`
    const signature = createSign('sha256').update(signed).sign(privateKey).toString('base64url')
    expect(tokens.verify(`${signed}.${signature}`)).toBeUndefined()
  })

  it('are rejected after any change of one character', () => {
    const { tokens } = fixture()
    const { token } = tokens.issue(subject, { expirationSeconds: 3600 })
    const payloadEnd = token.lastIndexOf('.')
    fc.assert(
      fc.property(fc.nat(payloadEnd - 1), fc.constantFrom('a', 'B', '7', '_'), (at, letter) => {
        fc.pre(token[at] !== letter)
        expect(tokens.verify(token.slice(0, at) + letter + token.slice(at + 1))).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  it('never throw on text that is not a token', () => {
    const { tokens } = fixture()
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => tokens.verify(text) === undefined))
    const dotted = fc.tuple(fc.base64String(), fc.base64String(), fc.base64String()).map((parts) => parts.join('.'))
    fc.assert(fc.property(dotted, (text) => tokens.verify(text) === undefined))
  })

  it('are verified with the published key', () => {
    const { tokens } = fixture()
    expect(tokens.jwks()).toMatchObject({ keys: [{ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' }] })
    expect(tokens.openidConfiguration('https://x')).toMatchObject({ jwks_uri: 'https://x/openid/v1/jwks' })
  })
})
