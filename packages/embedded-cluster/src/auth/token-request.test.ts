import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { Clock } from '../clock.ts'
import { type JsonObject, objectAt, stringAt } from '../json.ts'
import { Authenticator } from './authenticate.ts'
import { authenticationReviews } from './authentication-reviews.ts'
import { ServiceAccountTokens } from './service-account-tokens.ts'
import { createTokenIssuer } from './token-request.ts'

const clock: Clock = { now: () => Date.UTC(2026, 0, 1), schedule: () => ({ cancel: () => undefined }) }
const account = { metadata: { namespace: 'ci', name: 'builder', uid: 'u1' } }
const api = fakeClusterApi({
  serviceaccounts: [account],
  pods: [
    { metadata: { namespace: 'ci', name: 'p', uid: 'pod-1' }, spec: { serviceAccountName: 'builder', nodeName: 'n' } },
    { metadata: { namespace: 'ci', name: 'other', uid: 'pod-2' }, spec: { serviceAccountName: 'default' } },
  ],
  nodes: [{ metadata: { name: 'n', uid: 'node-1' } }],
})
const tokens = new ServiceAccountTokens({ api, clock, randomUuid: () => 'id-1' })
const issue = createTokenIssuer({ api, clock, tokens })
const request = (spec: JsonObject, metadata: JsonObject = {}) => issue(account, { metadata, spec })
const bound = (name: string, more: JsonObject = {}) => ({
  boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, ...more },
})

describe('a token request', () => {
  it('returns a token and the defaults', () => {
    const answer = request({})
    expect(answer).toMatchObject({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'builder', namespace: 'ci', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        audiences: ['https://kubernetes.default.svc.cluster.local'],
        expirationSeconds: 3600,
        boundObjectRef: null,
      },
      status: { expirationTimestamp: '2026-01-01T01:00:00Z' },
    })
    const token = stringAt(objectAt(answer, 'status'), 'token') ?? ''
    expect(tokens.verify(token)?.user.username).toBe('system:serviceaccount:ci:builder')
  })

  it('binds the token to a pod and contains its node', () => {
    const token = stringAt(objectAt(request(bound('p')), 'status'), 'token') ?? ''
    expect(tokens.verify(token)?.user.extra).toMatchObject({
      'authentication.kubernetes.io/pod-uid': ['pod-1'],
      'authentication.kubernetes.io/node-uid': ['node-1'],
    })
  })

  it.each<[string, JsonObject, string]>([
    [
      'too short',
      { expirationSeconds: 10 },
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    ],
    ['too long', { expirationSeconds: 2 ** 33 }, 'may not specify a duration larger than 2^32 seconds'],
    ['bound to a missing pod', bound('nope'), 'pods "nope" not found'],
    [
      'bound to another kind',
      bound('x', { kind: 'ConfigMap' }),
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    ['bound to a pod of another account', bound('other'), 'different serviceaccount name'],
    [
      'bound to a pod that was replaced',
      bound('p', { uid: 'old' }),
      'the UID in the bound object reference (old) does not match',
    ],
  ])('is rejected when %s', (_, spec, message) => {
    expect(() => request(spec)).toThrow(message)
  })

  it('is rejected for another name', () => {
    expect(() => request({}, { name: 'x' })).toThrow(
      'TokenRequest.authentication.k8s.io "builder" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    )
  })
})

describe('a token review', () => {
  const authenticator = new Authenticator({ tokens: new Map([['fixed', { username: 'jane', groups: [] }]]) })
  const reviews = authenticationReviews({ authenticator, serviceAccountTokens: tokens, clock })
  const review = (spec: JsonObject) =>
    reviews.get('tokenreviews.authentication.k8s.io')?.(
      { spec },
      { user: { username: 'x', groups: [] }, namespace: '' },
    )
  const token = stringAt(objectAt(request({}), 'status'), 'token') ?? ''

  it('returns the user of a token', () => {
    expect(review({ token })?.status).toEqual({
      authenticated: true,
      user: {
        username: 'system:serviceaccount:ci:builder',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ci', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': ['JTI=id-1'] },
      },
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    })
    expect(review({ token: 'fixed' })?.status).toMatchObject({ authenticated: true, user: { username: 'jane' } })
  })

  it('reports that a token is not valid, or not for the audience', () => {
    expect(review({ token: 'abc' })?.status).toEqual({ user: {}, error: 'invalid bearer token' })
    expect(review({ token, audiences: ['foo'] })?.status).toEqual({
      user: {},
      error: expect.stringMatching(
        /^\[invalid bearer token, token audiences \[.*\] is invalid for the target audiences \["foo"\]\]$/,
      ),
    })
    expect(review({ token: 'fixed', audiences: ['foo'] })?.status).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  it('requires a token', () => {
    expect(() => review({})).toThrow('token is required for TokenReview in authentication')
  })

  it('of oneself returns the requesting user', () => {
    const user = { username: 'jane', groups: ['devs'], extra: { a: ['b'] } }
    const answer = reviews.get('selfsubjectreviews.authentication.k8s.io')?.({}, { user, namespace: undefined })
    expect(answer?.status).toEqual({ userInfo: { username: 'jane', groups: ['devs'], extra: { a: ['b'] } } })
  })
})
