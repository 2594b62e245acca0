import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { UserInfo } from '../api/user.ts'
import type { JsonObject } from '../json.ts'
import { accessReviews } from './access-reviews.ts'
import { type Access, forbidden } from './authorizer.ts'
import { RBAC_RESOURCES, RbacAuthorizer } from './rbac.ts'

const jane: UserInfo = { username: 'jane', groups: ['devs'] }

function binding(kind: 'Role' | 'ClusterRole', role: string, subject: JsonObject, namespace?: string): JsonObject {
  return {
    metadata: { name: 'b', ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { kind, name: role },
    subjects: [subject],
  }
}

function authorizer(rules: readonly JsonObject[], options: { binding?: JsonObject; namespaced?: boolean } = {}) {
  const isNamespaced = options.namespaced ?? false
  const role = { metadata: { name: 'r', ...(isNamespaced ? { namespace: 'ns' } : {}) }, rules: [...rules] }
  const subject = { kind: 'User', name: 'jane' }
  const bound =
    options.binding ?? (isNamespaced ? binding('Role', 'r', subject, 'ns') : binding('ClusterRole', 'r', subject))
  const isLocal = typeof (bound.metadata as JsonObject).namespace === 'string'
  const api = fakeClusterApi({
    [isNamespaced ? RBAC_RESOURCES.role : RBAC_RESOURCES.clusterRole]: [role],
    [isLocal ? RBAC_RESOURCES.roleBinding : RBAC_RESOURCES.clusterRoleBinding]: [bound],
  })
  return { api, rbac: new RbacAuthorizer(api) }
}

const list = (resource: string, more: Partial<Access> & JsonObject = {}): Access => ({
  user: jane,
  verb: 'list',
  group: '',
  resource,
  ...more,
})

describe('a rule', () => {
  it.each<[string, JsonObject, Access, boolean]>([
    ['an exact match', { verbs: ['list'], apiGroups: [''], resources: ['pods'] }, list('pods'), true],
    ['another verb', { verbs: ['get'], apiGroups: [''], resources: ['pods'] }, list('pods'), false],
    ['another group', { verbs: ['list'], apiGroups: ['apps'], resources: ['pods'] }, list('pods'), false],
    ['everything', { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, list('pods', { subresource: 'log' }), true],
    [
      'the resource, not its subresource',
      { verbs: ['*'], apiGroups: [''], resources: ['pods'] },
      list('pods', { subresource: 'log' }),
      false,
    ],
    [
      'the subresource',
      { verbs: ['*'], apiGroups: [''], resources: ['pods/log'] },
      list('pods', { subresource: 'log' }),
      true,
    ],
    [
      'a subresource of anything',
      { verbs: ['*'], apiGroups: [''], resources: ['*/scale'] },
      list('pods', { subresource: 'scale' }),
      true,
    ],
    [
      'one name',
      { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      list('pods', { name: 'a' }),
      true,
    ],
    [
      'another name',
      { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      list('pods', { name: 'b' }),
      false,
    ],
    [
      'one name, requested for all',
      { verbs: ['*'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      list('pods'),
      false,
    ],
    ['a path', { verbs: ['get'], nonResourceURLs: ['/healthz'] }, { user: jane, verb: 'get', path: '/healthz' }, true],
    [
      'a tree of paths',
      { verbs: ['get'], nonResourceURLs: ['/api/*'] },
      { user: jane, verb: 'get', path: '/api/v1' },
      true,
    ],
    [
      'a path outside the tree',
      { verbs: ['get'], nonResourceURLs: ['/api/*'] },
      { user: jane, verb: 'get', path: '/apis' },
      false,
    ],
  ])('about %s', (_, rule, access, isAllowed) => {
    expect(authorizer([rule]).rbac.authorize(access).allowed).toBe(isAllowed)
  })
})

describe('a binding', () => {
  const rules = [{ verbs: ['*'], apiGroups: [''], resources: ['*'] }]

  it('in a namespace counts there only, even for a cluster role', () => {
    const local = binding('ClusterRole', 'r', { kind: 'User', name: 'jane' }, 'ns')
    const { rbac } = authorizer(rules, { binding: local })
    expect(rbac.authorize(list('pods', { namespace: 'ns' }))).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/ns" of ClusterRole "r" to User "jane"',
    })
    expect(rbac.authorize(list('pods', { namespace: 'other' })).allowed).toBe(false)
    expect(rbac.authorize(list('pods')).allowed).toBe(false)
  })

  it('applies to groups and service accounts', () => {
    const group = authorizer(rules, { binding: binding('ClusterRole', 'r', { kind: 'Group', name: 'devs' }) })
    expect(group.rbac.authorize(list('pods')).allowed).toBe(true)
    const subject = { kind: 'ServiceAccount', name: 'ci', namespace: 'build' }
    const account = authorizer(rules, { binding: binding('ClusterRole', 'r', subject) })
    const user = { username: 'system:serviceaccount:build:ci', groups: [] }
    expect(account.rbac.authorize({ ...list('pods'), user }).allowed).toBe(true)
    expect(account.rbac.authorize(list('pods')).allowed).toBe(false)
  })

  it('to a missing role is named in the error', () => {
    const { rbac } = authorizer(rules, { binding: binding('ClusterRole', 'gone', { kind: 'User', name: 'jane' }) })
    expect(rbac.authorize(list('pods'))).toEqual({
      allowed: false,
      reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    })
  })

  it('has no effect as soon as it is deleted, and a role changes immediately', async () => {
    const { api, rbac } = authorizer(rules)
    expect(rbac.authorize(list('pods')).allowed).toBe(true)
    api.put(RBAC_RESOURCES.clusterRole, { metadata: { name: 'r' }, rules: [] })
    expect(rbac.authorize(list('pods')).allowed).toBe(false)
    api.put(RBAC_RESOURCES.clusterRole, { metadata: { name: 'r' }, rules })
    await api.delete(RBAC_RESOURCES.clusterRoleBinding, undefined, 'b')
    expect(rbac.authorize(list('pods')).allowed).toBe(false)
  })

  it('is not needed by members of system:masters', () => {
    const user = { username: 'root', groups: ['system:masters'] }
    expect(new RbacAuthorizer(fakeClusterApi()).authorize({ ...list('pods'), user }).allowed).toBe(true)
  })

  it('never removes what another one grants', () => {
    const word = fc.constantFrom('get', 'list', '*', 'pods', 'secrets', '')
    const rule = fc.record({
      verbs: fc.array(word, { maxLength: 2 }),
      apiGroups: fc.array(word, { maxLength: 2 }),
      resources: fc.array(word, { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 3 }), rule, (some, more) => {
        const before = authorizer(some).rbac.authorize(list('pods')).allowed
        const after = authorizer([...some, more]).rbac.authorize(list('pods')).allowed
        return !before || after
      }),
    )
  })
})

describe('an error', () => {
  it.each<[Access, string]>([
    [
      list('pods', { namespace: 'y' }),
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "y"',
    ],
    [
      { ...list('pods', { namespace: 'default', name: 'x', subresource: 'log' }), verb: 'get' },
      'pods "x" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "default"',
    ],
    [
      list('deployments', { group: 'apps' }),
      'deployments.apps is forbidden: User "jane" cannot list resource "deployments" in API group "apps" at the cluster scope',
    ],
    [{ user: jane, verb: 'get', path: '/metrics' }, 'forbidden: User "jane" cannot get path "/metrics"'],
  ])('describes the denied request', (access, message) => {
    expect(forbidden(access)).toMatchObject({ code: 403, reason: 'Forbidden', message })
  })
})

describe('access reviews', () => {
  const { rbac } = authorizer([
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
    { verbs: ['get'], nonResourceURLs: ['/x'] },
  ])
  const reviews = accessReviews(rbac)
  const review = (kind: string, spec: JsonObject, namespace?: string) =>
    reviews.get(`${kind}.authorization.k8s.io`)?.({ spec }, { user: jane, namespace })

  it('return what the requesting user may do', () => {
    const resourceAttributes = { verb: 'get', resource: 'pods', namespace: 'default' }
    expect(review('selfsubjectaccessreviews', { resourceAttributes })).toEqual({
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: { resourceAttributes },
      status: { allowed: true, reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"' },
    })
    const denied = review('selfsubjectaccessreviews', { resourceAttributes: { verb: 'list', resource: 'pods' } })
    expect(denied?.status).toEqual({ allowed: false })
  })

  it('return what another user may do', () => {
    const resourceAttributes = { verb: '*', resource: '*' }
    const status = (spec: JsonObject) => review('subjectaccessreviews', { resourceAttributes, ...spec })?.status
    expect(status({ user: 'bob', groups: ['system:masters'] })).toEqual({ allowed: true })
    expect(status({ user: 'bob' })).toEqual({ allowed: false })
  })

  it.each<[string, JsonObject, string]>([
    [
      'selfsubjectaccessreviews',
      {},
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ],
    [
      'subjectaccessreviews',
      { resourceAttributes: {} },
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ],
    [
      'localsubjectaccessreviews',
      { user: 'a', resourceAttributes: { namespace: 'x' } },
      'spec.resourceAttributes.namespace: Invalid value: "x": must match metadata.namespace',
    ],
    [
      'selfsubjectaccessreviews',
      { resourceAttributes: {}, nonResourceAttributes: { path: '/healthz', verb: 'get' } },
      'spec.nonResourceAttributes: Invalid value: {"Path":"/healthz","Verb":"get"}: cannot be specified in combination with resourceAttributes',
    ],
  ])('of kind %s reject incomplete requests', (kind, spec, message) => {
    expect(() => review(kind, spec, 'default')).toThrow(`.authorization.k8s.io "" is invalid: ${message}`)
  })

  it('list everything a user may do in a namespace', () => {
    expect(review('selfsubjectrulesreviews', { namespace: 'default' })?.status).toEqual({
      resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      incomplete: false,
    })
    expect(() => review('selfsubjectrulesreviews', {})).toThrow('no namespace on request')
  })
})
