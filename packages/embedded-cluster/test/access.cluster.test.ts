/** Authorization: impersonation, roles, reviews, tokens. Passes on both clusters. */
import { randomBytes } from 'node:crypto'
import { type ClusterUnderTest, openCluster } from '@reeve/cluster-under-test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../src/index.ts'
import { eventually } from './support/eventually.ts'

let cluster: ClusterUnderTest
let namespace: string
beforeAll(async () => {
  cluster = await openCluster()
  namespace = await cluster.createNamespace()
})
afterAll(() => cluster.close())

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ACCESS = '/apis/authorization.k8s.io/v1'
const unique = (prefix: string) => `${prefix}-${randomBytes(3).toString('hex')}`
const as = (user: string, ...groups: string[]): Record<string, string> => ({
  'impersonate-user': user,
  ...(groups.length === 0 ? {} : { 'impersonate-group': groups.join(',') }),
})
const get = (path: string, headers: Record<string, string> = {}) => cluster.raw.send({ path, headers })
const post = (path: string, body: JsonObject, headers: Record<string, string> = {}) =>
  cluster.raw.send({ method: 'POST', path, body, headers })

/** Grants these rules to a new user, in the namespace or cluster-wide. */
async function userWith(rules: readonly JsonObject[], isEverywhere = false): Promise<string> {
  const user = unique('user')
  const [roles, bindings, kind] = isEverywhere
    ? [`${RBAC}/clusterroles`, `${RBAC}/clusterrolebindings`, 'ClusterRole']
    : [`${RBAC}/namespaces/${namespace}/roles`, `${RBAC}/namespaces/${namespace}/rolebindings`, 'Role']
  expect((await post(roles, { metadata: { name: user }, rules: [...rules] })).status).toBe(201)
  const apiGroup = 'rbac.authorization.k8s.io'
  const roleRef = { apiGroup, kind, name: user }
  const subjects = [{ apiGroup, kind: 'User', name: user }]
  expect((await post(bindings, { metadata: { name: user }, roleRef, subjects })).status).toBe(201)
  const [rule = {}] = rules
  const [verb] = rule.verbs as string[]
  const [resource] = (rule.resources ?? ['']) as string[]
  const [group] = (rule.apiGroups ?? ['']) as string[]
  await eventually(`the permissions of ${user}`, async () => {
    const resourceAttributes = { namespace, verb, group, resource, name: ((rule.resourceNames ?? ['']) as string[])[0] }
    const spec = { user, resourceAttributes }
    const { status } = (await post(`${ACCESS}/subjectaccessreviews`, { spec })).json<{ status: { allowed: boolean } }>()
    return status.allowed
  })
  return user
}

describe('a user without permissions', () => {
  it.each<[string, string, JsonObject]>([
    [
      '/api/v1/namespaces/NS/pods',
      'pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "NS"',
      { kind: 'pods' },
    ],
    [
      '/api/v1/namespaces/NS/pods/x/log',
      'pods "x" is forbidden: User "nobody" cannot get resource "pods/log" in API group "" in the namespace "NS"',
      { name: 'x', kind: 'pods' },
    ],
    [
      '/api/v1/nodes',
      'nodes is forbidden: User "nobody" cannot list resource "nodes" in API group "" at the cluster scope',
      { kind: 'nodes' },
    ],
    [
      '/api/v1/nodes?watch=true',
      'nodes is forbidden: User "nobody" cannot watch resource "nodes" in API group "" at the cluster scope',
      { kind: 'nodes' },
    ],
    [
      '/apis/apps/v1/deployments',
      'deployments.apps is forbidden: User "nobody" cannot list resource "deployments" in API group "apps" at the cluster scope',
      { group: 'apps', kind: 'deployments' },
    ],
    [
      '/apis/unknown.example.com/v1/things',
      'things.unknown.example.com is forbidden: User "nobody" cannot list resource "things" in API group "unknown.example.com" at the cluster scope',
      { group: 'unknown.example.com', kind: 'things' },
    ],
    ['/metrics', 'forbidden: User "nobody" cannot get path "/metrics"', {}],
  ])('gets the message of the real server at %s', async (path, message, details) => {
    const { status, json } = await get(path.replace('NS', namespace), as('nobody'))
    expect(status).toBe(403)
    expect(json()).toMatchObject({ reason: 'Forbidden', message: message.replace('NS', namespace), details })
  })

  it('may read discovery and review its own permissions', async () => {
    expect((await get('/apis', as('nobody'))).status).toBe(200)
    expect((await get('/version', as('nobody'))).status).toBe(200)
    const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } }
    expect((await post(`${ACCESS}/selfsubjectaccessreviews`, { spec }, as('nobody'))).status).toBe(201)
  })

  it('may not impersonate other users', async () => {
    const user = await userWith(
      [{ verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] }],
      true,
    )
    const spec = { resourceAttributes: { verb: 'impersonate', resource: 'groups', name: 'system:masters' }, user }
    const review = (await post(`${ACCESS}/subjectaccessreviews`, { spec })).json<{ status: JsonObject }>()
    expect(review.status).toEqual({ allowed: false })
  })
})

describe('anonymous users', () => {
  const anonymous = as('system:anonymous', 'system:unauthenticated')

  it('may read health and version, and nothing else', async () => {
    for (const path of ['/healthz', '/livez', '/readyz', '/version'])
      expect((await get(path, anonymous)).status).toBe(200)
    for (const path of ['/api', '/apis', '/openapi/v3', '/api/v1/namespaces']) {
      expect((await get(path, anonymous)).status).toBe(403)
    }
  })
})

describe('roles', () => {
  it('allow what their rules contain, where they are bound', async () => {
    const user = await userWith([{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }])
    expect((await get(`/api/v1/namespaces/${namespace}/configmaps`, as(user))).status).toBe(200)
    expect((await get('/api/v1/namespaces/default/configmaps', as(user))).status).toBe(403)
    expect((await get('/api/v1/configmaps', as(user))).status).toBe(403)
    expect((await get(`/api/v1/namespaces/${namespace}/secrets`, as(user))).status).toBe(403)
  })

  it('may be limited to resource names', async () => {
    const user = await userWith([
      { verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'] },
    ])
    expect((await get(`/api/v1/namespaces/${namespace}/configmaps/mine`, as(user))).status).toBe(404)
    expect((await get(`/api/v1/namespaces/${namespace}/configmaps/other`, as(user))).status).toBe(403)
  })

  it('that are missing are named in the error', async () => {
    const user = unique('user')
    const apiGroup = 'rbac.authorization.k8s.io'
    await post(`${RBAC}/namespaces/${namespace}/rolebindings`, {
      metadata: { name: user },
      roleRef: { apiGroup, kind: 'Role', name: 'gone' },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    })
    const denial = async () => String((await get(`/api/v1/namespaces/${namespace}/secrets`, as(user))).json().message)
    await eventually('the binding takes effect', async () => (await denial()).includes('RBAC'))
    expect(await denial()).toMatch(
      /in the namespace "[^"]+": RBAC: role\.rbac\.authorization\.k8s\.io "gone" not found$/,
    )
  })

  it('aggregate the rules of other roles by label', async () => {
    const name = unique('aggregate')
    const label = { [`example.com/${name}`]: 'true' }
    await post(`${RBAC}/clusterroles`, {
      metadata: { name },
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] },
    })
    const rules = [{ verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }]
    await post(`${RBAC}/clusterroles`, { metadata: { name: `${name}-part`, labels: label }, rules })
    const collected = async () =>
      (await get(`${RBAC}/clusterroles/${name}`)).json<{ rules: JsonObject[] | null }>().rules
    await eventually('the rules are aggregated', async () => ((await collected()) ?? []).length > 0)
    expect(await collected()).toEqual(rules)
  })

  it('cannot be used to grant more than the user has', async () => {
    const writer = await userWith(
      [
        { verbs: ['create', 'update', 'get'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'] },
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['get'], nonResourceURLs: ['/foo/*'] },
      ],
      true,
    )
    const write = (path: string, body: JsonObject) =>
      post(`${RBAC}${path}?dryRun=All`, { metadata: { name: 'r1' }, ...body }, as(writer))
    const local = `/namespaces/${namespace}`
    const rules = [
      { apiGroups: ['', 'apps'], resources: ['pods', 'secrets'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'], verbs: ['get'] },
    ]
    const refused = await write(`${local}/roles`, { rules })
    expect(refused.status).toBe(403)
    expect(refused.json().message).toBe(
      `roles.rbac.authorization.k8s.io "r1" is forbidden: user "${writer}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get"]}\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}\n{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}`,
    )
    const paths = await write('/clusterroles', {
      rules: [{ nonResourceURLs: ['/bar', '/foo/x'], verbs: ['get', 'post'] }],
    })
    expect(paths.json().message).toContain(
      '\n{NonResourceURLs:["/bar"], Verbs:["get"]}\n{NonResourceURLs:["/bar"], Verbs:["post"]}\n{NonResourceURLs:["/foo/x"], Verbs:["post"]}',
    )
    expect(
      (await write(`${local}/roles`, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] })).status,
    ).toBe(201)
    const apiGroup = 'rbac.authorization.k8s.io'
    const bound = await write(`${local}/rolebindings`, { roleRef: { apiGroup, kind: 'ClusterRole', name: 'view' } })
    expect(bound.status).toBe(403)
    const missing = await write(`${local}/rolebindings`, { roleRef: { apiGroup, kind: 'Role', name: 'zzz' } })
    expect(missing.json()).toMatchObject({
      code: 404,
      message: 'rolebindings.rbac.authorization.k8s.io "zzz" not found',
    })
  })
})

describe('access reviews', () => {
  it('return what is allowed, and why', async () => {
    const user = await userWith([{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }], true)
    const resourceAttributes = { namespace, verb: 'get', resource: 'configmaps' }
    const self = await post(`${ACCESS}/selfsubjectaccessreviews`, { spec: { resourceAttributes } }, as(user))
    expect(self.status).toBe(201)
    expect(self.json().status).toEqual({
      allowed: true,
      reason: `RBAC: allowed by ClusterRoleBinding "${user}" of ClusterRole "${user}" to User "${user}"`,
    })
    const other = await post(`${ACCESS}/subjectaccessreviews`, {
      spec: { user: 'bob', groups: ['system:masters'], resourceAttributes: { verb: '*', resource: '*' } },
    })
    expect(other.json().status).toEqual({ allowed: true })
    const local = await post(`${ACCESS}/namespaces/${namespace}/localsubjectaccessreviews`, {
      spec: { user, resourceAttributes },
    })
    expect(local.json()).toMatchObject({ metadata: { namespace }, status: { allowed: true } })
    const path = await post(
      `${ACCESS}/selfsubjectaccessreviews`,
      { spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } } },
      as(user),
    )
    expect(path.json().status).toMatchObject({ allowed: true })
  })

  it.each<[string, JsonObject, string]>([
    [
      'selfsubjectaccessreviews',
      {},
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      'subjectaccessreviews',
      { resourceAttributes: { verb: 'get', resource: 'pods' } },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      'namespaces/NS/localsubjectaccessreviews',
      { user: 'x', resourceAttributes: { namespace: 'other', verb: 'get', resource: 'pods' } },
      'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace',
    ],
    [
      'namespaces/NS/localsubjectaccessreviews',
      { user: 'x', nonResourceAttributes: { path: '/x', verb: 'get' }, resourceAttributes: { namespace: 'NS' } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
  ])('reject incomplete requests to %s', async (resource, spec, message) => {
    const { status, json } = await post(`${ACCESS}/${resource.replace('NS', namespace)}`, { spec })
    expect(status).toBe(422)
    expect(json().message).toContain(`.authorization.k8s.io "" is invalid: `)
    expect(json().message).toContain(message)
  })

  it('list the rules of a user', async () => {
    const user = await userWith([{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] }])
    const { status } = (await post(`${ACCESS}/selfsubjectrulesreviews`, { spec: { namespace } }, as(user))).json<{
      status: { resourceRules: JsonObject[]; incomplete: boolean }
    }>()
    expect(status.resourceRules).toContainEqual({ verbs: ['get'], apiGroups: [''], resources: ['configmaps'] })
    expect(status.incomplete).toBe(false)
    expect((await post(`${ACCESS}/selfsubjectrulesreviews`, { spec: {} }, as(user))).json().message).toBe(
      'no namespace on request',
    )
  })

  it('return the identity of a user', async () => {
    const { json } = await post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, as('jane', 'devs'))
    expect(json().status).toEqual({ userInfo: { username: 'jane', groups: ['devs', 'system:authenticated'] } })
  })
})

describe('tokens', () => {
  const tokenPath = (account: string) => `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
  interface IssuedToken {
    readonly metadata: JsonObject
    readonly spec: JsonObject
    readonly status: { readonly token: string; readonly expirationTimestamp: string }
  }

  async function account(): Promise<string> {
    const name = unique('account')
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } })
    return name
  }

  it('are issued to service accounts and authenticate them', async () => {
    const name = await account()
    const response = await post(tokenPath(name), { spec: { expirationSeconds: 3600 } })
    expect(response.status).toBe(201)
    const { metadata, spec, status } = response.json<IssuedToken>()
    expect(metadata).toMatchObject({ name, namespace })
    expect(spec).toEqual({
      audiences: ['https://kubernetes.default.svc.cluster.local'],
      expirationSeconds: 3600,
      boundObjectRef: null,
    })
    const review = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status.token } })
    expect(review.json().status).toEqual({
      authenticated: true,
      user: {
        username: `system:serviceaccount:${namespace}:${name}`,
        uid: expect.any(String),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^JTI=/)] },
      },
      audiences: ['https://kubernetes.default.svc.cluster.local'],
    })
  })

  it('are valid for their audience only', async () => {
    const { status } = (await post(tokenPath(await account()), { spec: { audiences: ['vault'] } })).json<IssuedToken>()
    const review = async (spec: JsonObject) =>
      (await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status.token, ...spec } })).json()
        .status
    expect(await review({})).toMatchObject({ user: {}, error: expect.stringContaining('invalid bearer token') })
    expect(await review({ audiences: ['vault', 'x'] })).toMatchObject({ authenticated: true, audiences: ['vault'] })
  })

  it('become invalid when their account is deleted', async () => {
    const name = await account()
    const { status } = (await post(tokenPath(name), { spec: {} })).json<IssuedToken>()
    await cluster.raw.send({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}` })
    await eventually('the token is invalid', async () => {
      const review = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: status.token } })
      return (review.json().status as JsonObject).authenticated !== true
    })
  })

  it.each<[string, JsonObject, string]>([
    [
      'too short',
      { expirationSeconds: 10 },
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    ],
    [
      'too long',
      { expirationSeconds: 2 ** 33 },
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
    ],
    [
      'bound to a missing pod',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'nope' } },
      'pods "nope" not found',
    ],
    [
      'bound to another kind',
      { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } },
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
  ])('that are %s are rejected', async (_, spec, message) => {
    expect((await post(tokenPath(await account()), { spec })).json().message).toBe(message)
  })

  it('for a missing account are rejected', async () => {
    expect((await post(tokenPath('nope'), { spec: {} })).json()).toMatchObject({
      code: 404,
      message: 'serviceaccounts "nope" not found',
    })
  })

  it('that are malformed are rejected without a reason', async () => {
    const review = await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'abc' } })
    expect(review.json().status).toEqual({ user: {}, error: 'invalid bearer token' })
    expect((await post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} })).json().message).toBe(
      'token is required for TokenReview in authentication',
    )
  })
})
