import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import type { JsonObject } from '../json.ts'
import { RBAC_RESOURCES, RbacAuthorizer } from './rbac.ts'
import { createEscalationCheck } from './role-escalation.ts'

function check(
  held: readonly JsonObject[],
  attributes: { plural: string; object: JsonObject; oldObject?: JsonObject; groups?: string[] },
) {
  const api = fakeClusterApi({
    [RBAC_RESOURCES.clusterRole]: [
      { metadata: { name: 'held' }, rules: [...held] },
      { metadata: { name: 'strong' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    ],
    [RBAC_RESOURCES.clusterRoleBinding]: [
      {
        metadata: { name: 'b' },
        roleRef: { kind: 'ClusterRole', name: 'held' },
        subjects: [{ kind: 'User', name: 'jane' }],
      },
    ],
  })
  const plugin = createEscalationCheck(new RbacAuthorizer(api))
  const { plural, object, oldObject, groups = ['devs', 'system:authenticated'] } = attributes
  // The check reads only these attributes.
  return plugin.validate?.({
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    resource: { group: 'rbac.authorization.k8s.io', plural },
    namespace: 'default',
    name: 'r1',
    object,
    oldObject,
    user: { username: 'jane', groups },
  } as unknown as AdmissionAttributes)
}

const podReader = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }

describe('a user who writes a role', () => {
  it('may grant permissions that they have', () => {
    expect(() => check([podReader], { plural: 'roles', object: { rules: [podReader] } })).not.toThrow()
    const named = { ...podReader, resourceNames: ['a'] }
    expect(() => check([podReader], { plural: 'roles', object: { rules: [named] } })).not.toThrow()
  })

  // Recorded from a real API server.
  it('may not grant more, and the error lists what is missing', () => {
    const rules = [
      { apiGroups: ['', 'apps'], resources: ['pods', 'secrets'], verbs: ['get', 'list'] },
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'], verbs: ['get'] },
    ]
    expect(() => check([podReader], { plural: 'roles', object: { rules } })).toThrow(
      'roles.rbac.authorization.k8s.io "r1" is forbidden: user "jane" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get"]}\n{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get"]}\n{APIGroups:[""], Resources:["pods"], Verbs:["list"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}\n{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}\n{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}',
    )
    const paths = [{ nonResourceURLs: ['/bar', '/foo/x'], verbs: ['get', 'post'] }]
    const held = [{ nonResourceURLs: ['/foo/*'], verbs: ['get'] }]
    expect(() => check(held, { plural: 'clusterroles', object: { rules: paths } })).toThrow(
      '\n{NonResourceURLs:["/bar"], Verbs:["get"]}\n{NonResourceURLs:["/bar"], Verbs:["post"]}\n{NonResourceURLs:["/foo/x"], Verbs:["post"]}',
    )
  })

  it('may select roles by label only with all permissions', () => {
    const object = { rules: [], aggregationRule: { clusterRoleSelectors: [] } }
    expect(() => check([podReader], { plural: 'clusterroles', object })).toThrow('Verbs:["*"]')
  })

  it('may write a role without changing its rules', () => {
    const rules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
    expect(() => check([], { plural: 'roles', object: { rules, metadata: {} }, oldObject: { rules } })).not.toThrow()
  })

  it('is exempt with the verb escalate, or as a master', () => {
    const rules = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
    const escalate = { verbs: ['escalate'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] }
    expect(() => check([escalate], { plural: 'roles', object: { rules } })).not.toThrow()
    expect(() => check([], { plural: 'roles', object: { rules }, groups: ['system:masters'] })).not.toThrow()
  })
})

describe('a user who writes a binding', () => {
  const object = { roleRef: { kind: 'ClusterRole', name: 'strong' }, subjects: [] }

  it('may not bind a role with more permissions than they have', () => {
    expect(() => check([podReader], { plural: 'rolebindings', object })).toThrow('not currently held')
  })

  it('may bind it with the verb bind on that role', () => {
    const bind = {
      verbs: ['bind'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      resourceNames: ['strong'],
    }
    expect(() => check([bind], { plural: 'rolebindings', object })).not.toThrow()
  })

  it('gets an error if the role does not exist', () => {
    const missing = { roleRef: { kind: 'Role', name: 'zzz' } }
    expect(() => check([podReader], { plural: 'rolebindings', object: missing })).toThrow(
      'rolebindings.rbac.authorization.k8s.io "zzz" not found',
    )
  })
})
