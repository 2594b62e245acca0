import { describe, expect, it } from 'vitest'
import { fakeClusterApi } from '../admission/testing/fake-cluster-api.ts'
import type { Clock } from '../clock.ts'
import { arrayAt } from '../json.ts'
import { ClusterRoleAggregation } from './cluster-role-aggregation.ts'
import { ensureDefaultRoles } from './default-roles.ts'
import { RBAC_RESOURCES, RbacAuthorizer } from './rbac.ts'

const clock: Clock = { now: () => 0, schedule: () => ({ cancel: () => undefined }) }

async function bootstrapped() {
  const api = fakeClusterApi()
  await ensureDefaultRoles(api)
  return { api, rbac: new RbacAuthorizer(api) }
}

describe('the default roles', () => {
  it('allow anonymous requests to read health and version, and nothing else', async () => {
    const { rbac } = await bootstrapped()
    const user = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
    const allowed = (path: string) => rbac.authorize({ user, verb: 'get', path }).allowed
    expect(['/healthz', '/version', '/readyz', '/livez'].map(allowed)).toEqual([true, true, true, true])
    expect(['/api', '/apis/apps', '/metrics', '/openapi/v3'].map(allowed)).toEqual([false, false, false, false])
  })

  it('allow authenticated users to read discovery and review themselves', async () => {
    const { rbac } = await bootstrapped()
    const user = { username: 'jane', groups: ['system:authenticated'] }
    expect(rbac.authorize({ user, verb: 'get', path: '/apis/apps/v1' }).allowed).toBe(true)
    const review = { user, verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' }
    expect(rbac.authorize(review).allowed).toBe(true)
    expect(rbac.authorize({ user, verb: 'list', group: '', resource: 'pods' }).allowed).toBe(false)
  })

  it('aggregate view into edit and edit into admin', async () => {
    const { rbac } = await bootstrapped()
    const verbs = (role: string, resource: string) =>
      rbac
        .rulesOf('ClusterRole', role, undefined)
        ?.filter((rule) => rule.resources.includes(resource))
        .flatMap((rule) => rule.verbs)
    expect(verbs('view', 'secrets')).toEqual([])
    expect(verbs('view', 'pods')).toContain('list')
    expect(verbs('edit', 'secrets')).toContain('update')
    expect(verbs('edit', 'pods')).toEqual(expect.arrayContaining(['list', 'create']))
    expect(verbs('edit', 'roles')).toEqual([])
    expect(verbs('admin', 'roles')).toContain('create')
    expect(verbs('admin', 'pods')).toContain('list')
  })

  it('do not change existing roles, and write nothing the second time', async () => {
    const { api } = await bootstrapped()
    api.put(RBAC_RESOURCES.clusterRole, { metadata: { name: 'view' }, rules: [] })
    const writes = api.writes.length
    await ensureDefaultRoles(api)
    expect(api.writes).toHaveLength(writes)
    expect(api.get(RBAC_RESOURCES.clusterRole, undefined, 'view')?.rules).toEqual([])
  })
})

describe('role aggregation', () => {
  it('adds the rules of roles with the label, and removes them with it', async () => {
    const { api } = await bootstrapped()
    const controller = new ClusterRoleAggregation({ api, clock })
    controller.start()
    await controller.idle()
    expect(api.writes.filter((write) => write.startsWith('update'))).toEqual([])
    const rule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }
    api.put(RBAC_RESOURCES.clusterRole, { metadata: { name: 'widgets-view', labels }, rules: [rule] })
    await controller.idle()
    const rulesOf = (name: string) => arrayAt(api.get(RBAC_RESOURCES.clusterRole, undefined, name), 'rules')
    for (const name of ['view', 'edit', 'admin']) expect(rulesOf(name)).toContainEqual(rule)
    await api.delete(RBAC_RESOURCES.clusterRole, undefined, 'widgets-view')
    await controller.idle()
    for (const name of ['view', 'edit', 'admin']) expect(rulesOf(name)).not.toContainEqual(rule)
    await controller.stop()
  })
})
