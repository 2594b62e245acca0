/** Role-based access control: what roles allow, where and to whom, and who may grant them. */
import { beforeAll, describe, expect, it } from 'vitest'
import { clusterResourceOf, resourceOf } from './support/api-resource.ts'
import { ConformanceApi, type Json, unique } from './support/conformance-api.ts'
import { grant, impersonating, untilAllowed } from './support/identity.ts'
import { failure, invalid } from './support/status.ts'
import { until } from './support/until.ts'

const api = ConformanceApi.forThisFile()
const configMaps = resourceOf(api, 'v1', 'ConfigMap', 'configmaps')
const secrets = resourceOf(api, 'v1', 'Secret', 'secrets')
const GROUP = 'rbac.authorization.k8s.io'
const roles = resourceOf(api, `${GROUP}/v1`, 'Role', 'roles')
const roleBindings = resourceOf(api, `${GROUP}/v1`, 'RoleBinding', 'rolebindings')
const clusterRoles = clusterResourceOf(api, `${GROUP}/v1`, 'ClusterRole', 'clusterroles')
const clusterRoleBindings = clusterResourceOf(api, `${GROUP}/v1`, 'ClusterRoleBinding', 'clusterrolebindings')

const as = (user: string, ...groups: string[]) => impersonating(api, { user, groups })
const userSubject = (name: string) => ({ apiGroup: GROUP, kind: 'User', name })

/** The error for a forbidden request. */
const forbidden = (resource: string, name: string, what: string) => {
  const [kind, ...group] = resource.split('.')
  return failure({
    code: 403,
    reason: 'Forbidden',
    message: `${resource}${name === '' ? '' : ` "${name}"`} is forbidden: ${what}`,
    details: { ...(name !== '' && { name }), ...(group.length > 0 && { group: group.join('.') }), kind },
  })
}

describe('a user without permissions', () => {
  const nobody = () => as('nobody')

  it.each<[string, () => [Parameters<ReturnType<typeof as>['send']>[0], string, Json?], () => Json]>([
    [
      'read an object',
      () => ['GET', configMaps.path('x')],
      () =>
        forbidden(
          'configmaps',
          'x',
          `User "nobody" cannot get resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
        ),
    ],
    [
      'create an object',
      () => ['POST', configMaps.path(), configMaps.object('x')],
      () =>
        forbidden(
          'configmaps',
          '',
          `User "nobody" cannot create resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
        ),
    ],
    [
      'replace an object',
      () => ['PUT', configMaps.path('x'), configMaps.object('x')],
      () =>
        forbidden(
          'configmaps',
          'x',
          `User "nobody" cannot update resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
        ),
    ],
    [
      'delete a collection',
      () => ['DELETE', configMaps.path()],
      () =>
        forbidden(
          'configmaps',
          '',
          `User "nobody" cannot deletecollection resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
        ),
    ],
    [
      'write a subresource',
      () => ['PUT', `/apis/apps/v1/namespaces/${api.namespace}/deployments/x/scale`, {}],
      () =>
        forbidden(
          'deployments.apps',
          'x',
          `User "nobody" cannot update resource "deployments/scale" in API group "apps" in the namespace "${api.namespace}"`,
        ),
    ],
    [
      'list cluster-scoped objects',
      () => ['GET', clusterRoles.path()],
      () =>
        forbidden(
          `clusterroles.${GROUP}`,
          '',
          `User "nobody" cannot list resource "clusterroles" in API group "${GROUP}" at the cluster scope`,
        ),
    ],
    [
      'read a namespace',
      () => ['GET', '/api/v1/namespaces/default'],
      () =>
        forbidden(
          'namespaces',
          'default',
          'User "nobody" cannot get resource "namespaces" in API group "" in the namespace "default"',
        ),
    ],
    [
      'read a path',
      () => ['GET', '/metrics'],
      () =>
        failure({
          code: 403,
          reason: 'Forbidden',
          message: 'forbidden: User "nobody" cannot get path "/metrics"',
          details: {},
        }),
    ],
  ])('cannot %s', async (_, request, expected) => {
    const [method, path, body] = request()
    expect((await nobody().send(method, path, body)).body).toEqual(expected())
  })

  it('may read discovery', async () => {
    for (const path of ['/api', '/apis', '/api/v1', '/apis/apps/v1', '/openapi/v3', '/version', '/healthz']) {
      expect([path, (await nobody().send('GET', path)).status]).toEqual([path, 200])
    }
  })
})

describe('a role', () => {
  it('allows its verbs, only in its namespace', async () => {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }]
    const user = await grant(api, { rules, namespace: api.namespace })
    const own = configMaps.as(as(user))
    expect((await own.create('by-role')).status).toBe(201)
    expect((await own.get('by-role')).status).toBe(200)
    expect((await own.delete('by-role')).status).toBe(403)
    expect((await own.list()).status).toBe(403)
    expect((await own.at({ namespace: () => 'default' }).get('by-role')).status).toBe(403)
    expect((await secrets.as(as(user)).get('by-role')).status).toBe(403)
  })

  it('may be limited to names, which lists and creates do not have', async () => {
    const resourceNames = ['mine']
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'create', 'delete'], resourceNames },
    ]
    const user = await grant(api, { rules, namespace: api.namespace })
    const own = configMaps.as(as(user))
    await configMaps.given('mine')
    expect((await own.get('mine')).status).toBe(200)
    expect((await own.get('other')).status).toBe(403)
    expect((await own.list()).status).toBe(403)
    expect((await own.list({ query: 'fieldSelector=metadata.name%3Dmine' })).status).toBe(200)
    expect((await own.create('mine')).status).toBe(403)
    expect((await own.delete('mine')).status).toBe(200)
  })

  it('lists subresources separately from their resource', async () => {
    const rules = [{ apiGroups: ['apps'], resources: ['deployments/scale'], verbs: ['get'] }]
    const user = unique('scaler')
    const subject = { namespace: api.namespace, verb: 'get', group: 'apps', resource: 'deployments' }
    await grant(api, {
      rules,
      namespace: api.namespace,
      subjects: [userSubject(user)],
      proof: { user, resourceAttributes: { ...subject, subresource: 'scale' } },
    })
    const path = `/apis/apps/v1/namespaces/${api.namespace}/deployments/x`
    expect((await as(user).send('GET', `${path}/scale`)).status).toBe(404)
    expect((await as(user).send('GET', path)).status).toBe(403)
  })

  it('may allow everything in one group', async () => {
    const user = await grant(api, { rules: [{ apiGroups: ['apps'], resources: ['*'], verbs: ['*'] }] })
    expect((await as(user).send('GET', '/apis/apps/v1/deployments')).status).toBe(200)
    expect((await as(user).send('GET', `/apis/apps/v1/namespaces/default/deployments/x/status`)).status).toBe(404)
    expect((await as(user).send('GET', '/api/v1/pods')).status).toBe(403)
  })

  it('may allow one subresource of everything', async () => {
    const user = unique('scaler')
    await grant(api, {
      rules: [{ apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] }],
      namespace: api.namespace,
      subjects: [userSubject(user)],
      proof: {
        user,
        resourceAttributes: {
          namespace: api.namespace,
          verb: 'get',
          group: 'apps',
          resource: 'deployments',
          subresource: 'scale',
        },
      },
    })
    const path = `/apis/apps/v1/namespaces/${api.namespace}/statefulsets/x`
    expect((await as(user).send('GET', `${path}/scale`)).status).toBe(404)
    expect((await as(user).send('GET', `${path}/status`)).status).toBe(403)
  })

  it('that is a ClusterRole applies everywhere with a ClusterRoleBinding', async () => {
    const user = await grant(api, { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] })
    expect((await as(user).send('GET', '/api/v1/configmaps')).status).toBe(200)
    expect((await configMaps.as(as(user)).list()).status).toBe(200)
  })

  it('that is a ClusterRole applies in one namespace with a RoleBinding', async () => {
    const name = unique('bound')
    await clusterRoles.given(name, { rules: [{ apiGroups: [''], resources: ['*'], verbs: ['list'] }] })
    await roleBindings.given(name, {
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
      subjects: [userSubject(name)],
    })
    await untilAllowed(api, {
      user: name,
      resourceAttributes: { namespace: api.namespace, verb: 'list', resource: 'configmaps' },
    })
    expect((await configMaps.as(as(name)).list()).status).toBe(200)
    expect((await as(name).send('GET', '/api/v1/configmaps')).status).toBe(403)
    expect((await as(name).send('GET', '/api/v1/nodes')).status).toBe(403)
  })

  it('may allow paths', async () => {
    const user = unique('paths')
    await grant(api, {
      rules: [{ nonResourceURLs: ['/metrics', '/logs/*'], verbs: ['get'] }],
      subjects: [userSubject(user)],
      proof: { user, nonResourceAttributes: { verb: 'get', path: '/metrics' } },
    })
    const allowed = async (path: string, verb = 'get') =>
      (
        await api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          spec: { user, nonResourceAttributes: { verb, path } },
        })
      ).body.status.allowed
    expect(await allowed('/logs/kube')).toBe(true)
    expect(await allowed('/logs')).toBe(false)
    expect(await allowed('/metrics/more')).toBe(false)
    expect(await allowed('/metrics', 'post')).toBe(false)
  })

  it('can be bound to groups and to service accounts', async () => {
    const group = unique('group')
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    const resourceAttributes = { namespace: api.namespace, verb: 'list', resource: 'configmaps' }
    await grant(api, {
      rules,
      namespace: api.namespace,
      subjects: [
        { apiGroup: GROUP, kind: 'Group', name: group },
        { kind: 'ServiceAccount', name: 'robot', namespace: api.namespace },
      ],
      proof: { user: 'anyone', groups: [group], resourceAttributes },
    })
    expect((await configMaps.as(as('anyone', group)).list()).status).toBe(200)
    expect((await configMaps.as(as('anyone', 'other')).list()).status).toBe(403)
    expect((await configMaps.as(as(`system:serviceaccount:${api.namespace}:robot`)).list()).status).toBe(200)
    expect((await configMaps.as(as('system:serviceaccount:default:robot')).list()).status).toBe(403)
  })

  it('that is a ClusterRole may aggregate the rules of other roles', async () => {
    const name = unique('aggregate')
    const labels = { [`example.com/to-${name}`]: 'true' }
    await clusterRoles.given(name, {
      rules: [],
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
    })
    const part = (resource: string) => [{ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] }]
    await clusterRoles.given(`${name}-a`, { metadata: { labels }, rules: part('apples') })
    await clusterRoles.given(`${name}-b`, { metadata: { labels }, rules: part('bananas') })
    const rules = await until('the rules are aggregated', async () => {
      const { body } = await clusterRoles.get(name)
      return body.rules?.length === 2 && body.rules
    })
    expect(rules).toEqual([...part('apples'), ...part('bananas')])
    await clusterRoles.delete(`${name}-a`)
    await until('the rules are removed', async () => (await clusterRoles.get(name)).body.rules?.length === 1)
  })

  it('that does not exist is named in the error', async () => {
    const name = unique('gone')
    await clusterRoleBindings.given(name, {
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name },
      subjects: [userSubject(name)],
    })
    const message = await until('the binding takes effect', async () => {
      const { body } = await as(name).send('GET', '/api/v1/nodes')
      return body.message.includes('RBAC') && body.message
    })
    expect(message).toBe(
      `nodes is forbidden: User "${name}" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: clusterrole.${GROUP} "${name}" not found`,
    )
  })
})

describe('built-in permissions', () => {
  it('allow system:masters everything', async () => {
    expect((await as('anyone', 'system:masters').send('GET', '/api/v1/secrets')).status).toBe(200)
  })

  it.each<[string, string, string, boolean]>([
    ['view', 'get', 'pods', true],
    ['view', 'create', 'pods', false],
    ['view', 'get', 'secrets', false],
    ['edit', 'create', 'deployments', true],
    ['edit', 'get', 'secrets', true],
    ['edit', 'create', 'rolebindings', false],
    ['admin', 'create', 'rolebindings', true],
    ['admin', 'delete', 'namespaces', false],
  ])('the role %s: %s %s is %s', async (role, verb, resource, allowed) => {
    const user = `built-in-${role}-${api.namespace}`
    const name = `${role}-binding`
    await roleBindings.create(name, {
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
      subjects: [userSubject(user)],
    })
    await untilAllowed(api, { user, resourceAttributes: { namespace: api.namespace, verb: 'get', resource: 'pods' } })
    const group = { deployments: 'apps', rolebindings: GROUP }[resource] ?? ''
    const { body } = await api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: { user, resourceAttributes: { namespace: api.namespace, verb, group, resource } },
    })
    expect(body.status.allowed).toBe(allowed)
  })
})

describe('a user who writes roles', () => {
  let writer: string
  beforeAll(async () => {
    const rules = [
      { apiGroups: [GROUP], resources: ['*'], verbs: ['create', 'update', 'patch', 'get'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
    ]
    writer = await grant(api, { rules, namespace: api.namespace })
  })

  const readConfigMaps = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
  const readSecrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }]
  const denial = (resource: string, name: string) =>
    forbidden(
      `${resource}.${GROUP}`,
      name,
      `user "${writer}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
    )

  it('may grant what they have', async () => {
    expect((await roles.as(as(writer)).create('less', { rules: readConfigMaps })).status).toBe(201)
  })

  it('may not grant what they do not have', async () => {
    const { body } = await roles.as(as(writer)).create('more', { rules: readSecrets })
    expect(body).toEqual(denial('roles', 'more'))
  })

  it('may not even label a role with more than they have', async () => {
    await roles.given('there', { rules: readSecrets })
    const { body } = await roles.as(as(writer)).patch('merge', 'there', { metadata: { labels: { a: 'b' } } })
    expect(body).toEqual(denial('roles', 'there'))
  })

  it('may remove a finalizer of a role that is being deleted', async () => {
    await roles.given('held', { metadata: { finalizers: ['example.com/hold'] }, rules: readSecrets })
    const { status } = await roles.as(as(writer)).patch('merge', 'held', { metadata: { finalizers: null } })
    expect(status).toBe(200)
  })

  it('may not extend an existing role', async () => {
    await roles.given('narrow', { rules: readConfigMaps })
    const { body } = await roles.as(as(writer)).patch('merge', 'narrow', { rules: readSecrets })
    expect(body).toEqual(denial('roles', 'narrow'))
  })

  it('may not bind a role with more than they have', async () => {
    await roles.given('tempting', { rules: readSecrets })
    const binding = { roleRef: { apiGroup: GROUP, kind: 'Role', name: 'tempting' }, subjects: [userSubject(writer)] }
    expect((await roleBindings.as(as(writer)).create('tempted', binding)).body).toEqual(
      denial('rolebindings', 'tempted'),
    )
  })

  it('may bind any role with the verb bind', async () => {
    const rules = [
      { apiGroups: [GROUP], resources: ['rolebindings'], verbs: ['create'] },
      { apiGroups: [GROUP], resources: ['roles'], verbs: ['bind'], resourceNames: ['bindable'] },
    ]
    const binder = await grant(api, { rules, namespace: api.namespace })
    await roles.given('bindable', { rules: readSecrets })
    const roleRef = { apiGroup: GROUP, kind: 'Role', name: 'bindable' }
    const subjects = [userSubject('somebody')]
    expect((await roleBindings.as(as(binder)).create('allowed', { roleRef, subjects })).status).toBe(201)
  })

  it('may grant anything with the verb escalate', async () => {
    const rules = [{ apiGroups: [GROUP], resources: ['roles'], verbs: ['create', 'escalate'] }]
    const escalator = await grant(api, { rules, namespace: api.namespace })
    expect((await roles.as(as(escalator)).create('escalated', { rules: readSecrets })).status).toBe(201)
  })
})

describe('a binding', () => {
  it('cannot be changed to another role', async () => {
    const roleRef = (name: string) => ({ apiGroup: GROUP, kind: 'ClusterRole', name })
    const created = await roleBindings.given('fixed', { roleRef: roleRef('view') })
    const { body } = await roleBindings.replace('fixed', { ...created, roleRef: roleRef('edit') })
    expect(body).toEqual(
      invalid(`RoleBinding.${GROUP}`, 'fixed', {
        field: 'roleRef',
        reason: 'FieldValueInvalid',
        message: `Invalid value: {"APIGroup":"${GROUP}","Kind":"ClusterRole","Name":"edit"}: cannot change roleRef`,
      }),
    )
  })

  it('defaults the group of its subjects', async () => {
    const { body } = await roleBindings.create('subjects', {
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'User', name: 'a' },
        { kind: 'ServiceAccount', name: 'b', namespace: 'c' },
      ],
    })
    expect(body.subjects).toEqual([
      { apiGroup: GROUP, kind: 'User', name: 'a' },
      { kind: 'ServiceAccount', name: 'b', namespace: 'c' },
    ])
  })
})
