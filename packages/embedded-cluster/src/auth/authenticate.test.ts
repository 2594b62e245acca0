import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { UserInfo } from '../api/user.ts'
import { StatusError } from '../status-error.ts'
import { Authenticator, impersonate, userFromCertificate } from './authenticate.ts'
import { type Access, type Authorizer, alwaysAllow, isResourceAccess } from './authorizer.ts'
import { CertificateAuthority } from './certificates.ts'

const jane: UserInfo = { username: 'jane', groups: ['devs'] }

function refusal(action: () => unknown): StatusError {
  try {
    action()
  } catch (error) {
    if (error instanceof StatusError) return error
  }
  throw new Error('expected a StatusError')
}

describe('authentication', () => {
  const authenticator = new Authenticator({ tokens: new Map([['s3cret', jane]]) })

  it('rejects a request without credentials', () => {
    const error = refusal(() => authenticator.authenticate({ headers: {} }))
    expect(error).toMatchObject({ code: 401, reason: 'Unauthorized' })
  })

  it('treats a request without credentials as anonymous where that is allowed', () => {
    const open = new Authenticator({ allowAnonymous: true })
    expect(open.authenticate({ headers: {} })).toEqual({
      username: 'system:anonymous',
      groups: ['system:unauthenticated'],
    })
  })

  it('accepts static tokens, whatever the case of the scheme', () => {
    expect(authenticator.authenticate({ headers: { authorization: 'bearer s3cret' } })).toEqual({
      username: 'jane',
      groups: ['devs', 'system:authenticated'],
    })
  })

  it('rejects an unknown token without repeating it', () => {
    const error = refusal(() => authenticator.authenticate({ headers: { authorization: 'Bearer guess' } }))
    expect(error).toMatchObject({ code: 401, message: 'Unauthorized' })
  })

  it('calls the verifiers in order', () => {
    const asked = new Authenticator({
      verifiers: [() => undefined, (token) => (token === 'jwt' ? { username: 'sa', groups: [] } : undefined)],
    })
    expect(asked.authenticate({ headers: { authorization: 'Bearer jwt' } }).username).toBe('sa')
  })

  it('prefers the client certificate over a token', () => {
    const user = authenticator.authenticate({ headers: { authorization: 'Bearer wrong' }, user: jane })
    expect(user.username).toBe('jane')
  })

  it('reads user and groups from a certificate', () => {
    const authority = CertificateAuthority.create('test')
    const pair = authority.issueClient({ username: 'jane', groups: ['devs'] })
    const user = userFromCertificate(new X509Certificate(pair.certificate).toLegacyObject())
    expect(user).toMatchObject({ username: 'jane', groups: ['devs', 'system:authenticated'] })
    expect(user?.extra?.['authentication.kubernetes.io/credential-id']?.[0]).toMatch(/^X509SHA256=[0-9a-f]{64}$/)
  })
})

describe('impersonation', () => {
  /** Allows the given `resource name` pairs and records every request. */
  function allowing(...allowed: string[]): Authorizer & { asked: string[] } {
    const asked: string[] = []
    return {
      ...alwaysAllow,
      asked,
      authorize(access: Access) {
        const subject = isResourceAccess(access)
          ? `${access.resource}${access.subresource ? `/${access.subresource}` : ''} ${access.name}`
          : access.path
        asked.push(subject)
        return { allowed: allowed.includes(subject), reason: '' }
      },
    }
  }

  it('changes nothing without its headers', () => {
    expect(impersonate(jane, { headers: {} }, allowing())).toBe(jane)
  })

  it('sets another user with groups and extras when each part is allowed', () => {
    const authorizer = allowing('users bob', 'groups a', 'groups b', 'userextras/scopes view', 'uids 42')
    const headers = {
      'impersonate-user': 'bob',
      'impersonate-group': 'a, b',
      'impersonate-uid': '42',
      'impersonate-extra-scopes': 'view',
    }
    const repeatedHeaders = { 'impersonate-group': ['a', 'b'] }
    expect(impersonate(jane, { headers, repeatedHeaders }, authorizer)).toEqual({
      username: 'bob',
      uid: '42',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { scopes: ['view'] },
    })
  })

  it('is rejected when one group is not allowed, which is in the message', () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }
    expect(refusal(() => impersonate(jane, { headers }, allowing('users bob')))).toMatchObject({
      code: 403,
      message:
        'groups "system:masters" is forbidden: User "jane" cannot impersonate resource "groups" in API group "" at the cluster scope',
    })
  })

  it('adds the groups of a service account', () => {
    const authorizer = allowing('serviceaccounts builder')
    const headers = { 'impersonate-user': 'system:serviceaccount:ci:builder' }
    expect(impersonate(jane, { headers }, authorizer).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:ci',
      'system:authenticated',
    ])
  })

  it('treats one header as one group, whatever it contains', () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'a,b' }
    expect(impersonate(jane, { headers }, alwaysAllow).groups).toEqual(['a,b', 'system:authenticated'])
  })

  it('rejects groups without a user', () => {
    expect(refusal(() => impersonate(jane, { headers: { 'impersonate-group': 'a' } }, alwaysAllow))).toMatchObject({
      code: 400,
      message: 'requested [{Group  a    }] without impersonating a user',
    })
  })
})
