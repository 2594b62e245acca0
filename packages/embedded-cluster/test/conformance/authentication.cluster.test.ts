/** Authentication: certificates, tokens of service accounts, impersonation, and anonymous requests. */
import { beforeAll, describe, expect, it } from 'vitest'
import { resourceOf, type Sender } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { bearing, grant, impersonating, impersonatingMany } from './support/identity.ts'
import { badRequest, failure, invalid, notFound } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const accounts = resourceOf(api, 'v1', 'ServiceAccount', 'serviceaccounts')
const secrets = resourceOf(api, 'v1', 'Secret', 'secrets')
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')

const unauthorized = failure({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' })
const WHOAMI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

async function identityOf(sender: Sender): Promise<Json> {
  const { body, text } = await sender.send('POST', WHOAMI, {})
  if (body?.status === undefined) throw new Error(text)
  return body.status.userInfo
}

describe('a client certificate', () => {
  it('contains the user and its groups', async () => {
    expect(await identityOf(api)).toMatchObject({
      username: expect.any(String),
      groups: ['system:masters', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
    })
  })
})

describe('nobody', () => {
  it.each(['/healthz', '/livez', '/readyz', '/version'])('may read %s', async (path) => {
    await using nobody = bearing(api)
    expect((await nobody.send('GET', path)).status).toBe(200)
  })

  it.each(['/', '/api', '/apis', '/apis/apps/v1', '/openapi/v3', '/metrics'])('may not read %s', async (path) => {
    await using nobody = bearing(api)
    expect((await nobody.send('GET', path)).body).toEqual(
      failure({
        code: 403,
        reason: 'Forbidden',
        message: `forbidden: User "system:anonymous" cannot get path "${path}"`,
        details: {},
      }),
    )
  })

  it('may not read any object', async () => {
    await using nobody = bearing(api)
    expect((await nobody.send('GET', configMaps.path('x'))).body).toEqual(
      failure({
        code: 403,
        reason: 'Forbidden',
        message: `configmaps "x" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
        details: { name: 'x', kind: 'configmaps' },
      }),
    )
  })
})

describe('a bearer token', () => {
  it.each([
    ['that was never issued', 'abc'],
    ['that looks valid', 'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2V4YW1wbGUuY29tIn0.AAAA'],
  ])('%s is rejected, even where none is required', async (_, token) => {
    await using stranger = bearing(api, token)
    for (const path of ['/version', '/api/v1/namespaces']) {
      expect((await stranger.send('GET', path)).body).toEqual(unauthorized)
    }
  })

  it('of another scheme is ignored', async () => {
    await using stranger = bearing(api)
    const headers = { authorization: 'Basic YTpi' }
    expect((await stranger.send('GET', '/version', undefined, headers)).status).toBe(200)
  })
})

describe('a token of a service account', () => {
  const tokenOf = (account: string, spec: Json = {}) =>
    api.post(accounts.path(account, { subresource: 'token' }), {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec,
    })

  async function newAccount(): Promise<Json> {
    return accounts.given(unique('account'))
  }

  it('authenticates its account', async () => {
    const { metadata } = await newAccount()
    const { status, body } = await tokenOf(metadata.name)
    expect(status).toBe(201)
    await using robot = bearing(api, body.status.token)
    expect(await identityOf(robot)).toEqual({
      username: `system:serviceaccount:${api.namespace}:${metadata.name}`,
      uid: metadata.uid,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${api.namespace}`, 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=[0-9a-f-]{36}$/)] },
    })
  })

  it('has the permissions of its account', async () => {
    const { metadata } = await newAccount()
    await grant(api, {
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }],
      namespace: api.namespace,
      subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace: api.namespace }],
      proof: {
        user: `system:serviceaccount:${api.namespace}:${metadata.name}`,
        resourceAttributes: { namespace: api.namespace, verb: 'create', resource: 'configmaps' },
      },
    })
    await using robot = bearing(api, (await tokenOf(metadata.name)).body.status.token)
    expect((await configMaps.as(robot).create('by-robot')).status).toBe(201)
    expect((await secrets.as(robot).create('by-robot')).body).toMatchObject({
      code: 403,
      message: `secrets is forbidden: User "system:serviceaccount:${api.namespace}:${metadata.name}" cannot create resource "secrets" in API group "" in the namespace "${api.namespace}"`,
    })
  })

  it('is a JSON web token with subject, issuer and expiry', async () => {
    const { metadata } = await newAccount()
    const { body } = await tokenOf(metadata.name, { expirationSeconds: 3600 })
    const [header, payload] = body.status.token
      .split('.')
      .slice(0, 2)
      .map((part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(header).toEqual({ alg: expect.stringMatching(/^(RS|ES)256$/), kid: expect.any(String) })
    expect(payload).toEqual({
      aud: ['https://kubernetes.default.svc.cluster.local'],
      iss: 'https://kubernetes.default.svc.cluster.local',
      sub: `system:serviceaccount:${api.namespace}:${metadata.name}`,
      jti: expect.any(String),
      iat: expect.any(Number),
      nbf: payload.iat,
      exp: payload.iat + 3600,
      'kubernetes.io': {
        namespace: api.namespace,
        serviceaccount: { name: metadata.name, uid: metadata.uid },
      },
    })
    expect(Date.parse(body.status.expirationTimestamp) / 1000).toBeCloseTo(payload.exp, -1)
  })

  it('for another audience is rejected', async () => {
    const { metadata } = await newAccount()
    const { body } = await tokenOf(metadata.name, { audiences: ['vault'] })
    expect(body.spec.audiences).toEqual(['vault'])
    await using robot = bearing(api, body.status.token)
    expect((await robot.send('GET', '/version')).body).toEqual(unauthorized)
  })

  // A real server caches token lookups for ten seconds, so these cases wait concurrently.
  it.concurrent('becomes invalid when its account is deleted, even if another one with that name is created', async () => {
    const { metadata } = await newAccount()
    await using robot = bearing(api, (await tokenOf(metadata.name)).body.status.token)
    await identityOf(robot)
    await accounts.delete(metadata.name)
    await accounts.given(metadata.name)
    await until('the token is rejected', async () => (await robot.send('POST', WHOAMI, {})).status === 401)
  })

  it.concurrent('becomes invalid when the secret it is bound to is deleted', async () => {
    const { metadata } = await newAccount()
    const secret = await secrets.given(unique('bound'))
    const { name, uid } = secret.metadata
    const boundObjectRef = { apiVersion: 'v1', kind: 'Secret', name, uid }
    const { body } = await tokenOf(metadata.name, { boundObjectRef })
    await using robot = bearing(api, body.status.token)
    await identityOf(robot)
    await secrets.delete(name)
    await until('the token is rejected', async () => (await robot.send('POST', WHOAMI, {})).status === 401)
  })

  it('with a modified signature is rejected', async () => {
    const { metadata } = await newAccount()
    const { token } = (await tokenOf(metadata.name)).body.status
    const flipped = token.slice(0, -4) + (token.at(-4) === 'A' ? 'B' : 'A') + token.slice(-3)
    await using thief = bearing(api, flipped)
    expect((await thief.send('GET', '/version')).status).toBe(401)
  })

  it.each<[string, Json, Json]>([
    [
      'for less than ten minutes',
      { expirationSeconds: 599 },
      invalid('TokenRequest.authentication.k8s.io', '', {
        field: 'spec.expirationSeconds',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 599: may not specify a duration less than 10 minutes',
      }),
    ],
    [
      'bound to a secret that does not exist',
      { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'nobody' } },
      notFound('secrets', 'nobody'),
    ],
    [
      'bound to something else',
      { boundObjectRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' } },
      badRequest('cannot bind token to object of type /v1, Kind=ConfigMap'),
    ],
  ])('%s is not issued', async (_, spec, expected) => {
    const { metadata } = await newAccount()
    expect((await tokenOf(metadata.name, spec)).body).toEqual(expected)
  })

  it('of a missing account is not issued', async () => {
    expect((await tokenOf('nobody')).body).toEqual(notFound('serviceaccounts', 'nobody'))
  })
})

describe('impersonation', () => {
  it('changes the user of a request', async () => {
    expect(await identityOf(impersonating(api, { user: 'alice' }))).toEqual({
      username: 'alice',
      groups: ['system:authenticated'],
    })
  })

  it('sets groups, uid and extra fields', async () => {
    await using alice = impersonatingMany(api, {
      user: 'alice',
      groups: ['dev', 'ops'],
      uid: '42',
      extra: { scopes: ['view', 'edit'], 'example.com%2fteam': ['red'] },
    })
    const { body } = await alice.send('POST', WHOAMI, {})
    expect(body.status.userInfo).toEqual({
      username: 'alice',
      uid: '42',
      groups: ['dev', 'ops', 'system:authenticated'],
      extra: { scopes: ['view', 'edit'], 'example.com/team': ['red'] },
    })
  })

  it('treats a comma as part of the name of a group', async () => {
    expect((await identityOf(impersonating(api, { user: 'alice', groups: ['dev,ops'] }))).groups).toEqual([
      'dev,ops',
      'system:authenticated',
    ])
  })

  it('sets the groups of a service account', async () => {
    const user = `system:serviceaccount:${api.namespace}:robot`
    expect((await identityOf(impersonating(api, { user }))).groups).toEqual([
      'system:serviceaccounts',
      `system:serviceaccounts:${api.namespace}`,
      'system:authenticated',
    ])
  })

  it('of the anonymous user is anonymous', async () => {
    const nobody = impersonating(api, { user: 'system:anonymous' })
    const { status, body } = await nobody.send('POST', WHOAMI, {})
    expect(status).toBe(403)
    expect(body.message).toContain('User "system:anonymous" cannot create resource "selfsubjectreviews"')
  })

  it('without a user is rejected', async () => {
    const { status, body } = await api.get('/version', { 'impersonate-group': 'dev' })
    expect(status).toBe(400)
    expect(body.message).toBe('requested [{Group  dev    }] without impersonating a user')
  })
})

describe('impersonation with limited permissions', () => {
  let robot: string
  let token: string
  beforeAll(async () => {
    const { metadata } = await accounts.given(unique('actor'))
    robot = `system:serviceaccount:${api.namespace}:${metadata.name}`
    await grant(api, {
      rules: [
        { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['alice'] },
        { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['dev'] },
      ],
      subjects: [{ kind: 'ServiceAccount', name: metadata.name, namespace: api.namespace }],
      proof: { user: robot, resourceAttributes: { verb: 'impersonate', resource: 'users', name: 'alice' } },
    })
    const reply = await api.post(accounts.path(metadata.name, { subresource: 'token' }), { spec: {} })
    token = reply.body.status.token
  })

  it.each<[string, Record<string, string>, number, string?]>([
    ['a permitted user', { 'impersonate-user': 'alice' }, 201],
    ['a user in a permitted group', { 'impersonate-user': 'alice', 'impersonate-group': 'dev' }, 201],
    [
      'another user',
      { 'impersonate-user': 'bob' },
      403,
      'users "bob" is forbidden: User "ROBOT" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    [
      'a user in another group',
      { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' },
      403,
      'groups "system:masters" is forbidden: User "ROBOT" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
    [
      'a user with a uid',
      { 'impersonate-user': 'alice', 'impersonate-uid': '1' },
      403,
      'uids.authentication.k8s.io "1" is forbidden: User "ROBOT" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope',
    ],
    [
      'a user with extra fields',
      { 'impersonate-user': 'alice', 'impersonate-extra-scopes': 'view' },
      403,
      'userextras.authentication.k8s.io "view" is forbidden: User "ROBOT" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope',
    ],
    [
      'a service account',
      { 'impersonate-user': 'system:serviceaccount:default:default' },
      403,
      'serviceaccounts "default" is forbidden: User "ROBOT" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"',
    ],
  ])('%s', async (_, headers, status, message) => {
    await using sender = bearing(api, token)
    const reply = await sender.send('POST', WHOAMI, {}, headers)
    expect(reply.status).toBe(status)
    if (message !== undefined) expect(reply.body.message).toBe(message.replace('ROBOT', robot))
  })
})
