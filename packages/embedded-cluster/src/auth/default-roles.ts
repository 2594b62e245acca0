/** The default cluster roles and bindings, which people, charts and operators refer to. */

import type { ClusterApi } from '../api/cluster-api.ts'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import { aggregatedRules } from './cluster-role-aggregation.ts'
import { RBAC_RESOURCES } from './rbac.ts'

const API_VERSION = 'rbac.authorization.k8s.io/v1'
const BOOTSTRAP_LABEL = 'kubernetes.io/bootstrapping'
const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']
const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

type Rule = JsonObject

function rule(verbs: readonly string[], apiGroups: readonly string[], resources: string): Rule {
  return { verbs: [...verbs], apiGroups: [...apiGroups], resources: resources.split(' ') }
}

function paths(...nonResourceURLs: string[]): Rule {
  return { verbs: ['get'], nonResourceURLs }
}

const viewRules: readonly Rule[] = [
  rule(
    read,
    [''],
    'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
  ),
  rule(
    read,
    [''],
    'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status',
  ),
  rule(read, [''], 'namespaces'),
  rule(read, ['', 'events.k8s.io'], 'events'),
  rule(read, ['discovery.k8s.io'], 'endpointslices'),
  rule(
    read,
    ['apps'],
    'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
  ),
  rule(read, ['autoscaling'], 'horizontalpodautoscalers horizontalpodautoscalers/status'),
  rule(read, ['batch'], 'cronjobs cronjobs/status jobs jobs/status'),
  rule(read, ['policy'], 'poddisruptionbudgets poddisruptionbudgets/status'),
  rule(read, ['networking.k8s.io'], 'ingresses ingresses/status networkpolicies'),
  rule(read, ['resource.k8s.io'], 'resourceclaims resourceclaims/status resourceclaimtemplates'),
]

const editRules: readonly Rule[] = [
  rule(read, [''], 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
  rule(['impersonate'], [''], 'serviceaccounts'),
  rule(write, [''], 'pods pods/attach pods/exec pods/portforward pods/proxy'),
  rule(['create'], [''], 'pods/eviction'),
  rule(
    write,
    [''],
    'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy',
  ),
  rule(['create'], [''], 'serviceaccounts/token'),
  rule(write, ['', 'events.k8s.io'], 'events'),
  rule(
    write,
    ['apps'],
    'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale',
  ),
  rule(write, ['autoscaling'], 'horizontalpodautoscalers'),
  rule(write, ['batch'], 'cronjobs jobs'),
  rule(write, ['policy'], 'poddisruptionbudgets'),
  rule(write, ['networking.k8s.io'], 'ingresses networkpolicies'),
  rule(all, ['coordination.k8s.io'], 'leases'),
  rule(write, ['resource.k8s.io'], 'resourceclaims resourceclaimtemplates'),
]

const adminRules: readonly Rule[] = [
  rule(['create'], ['authorization.k8s.io'], 'localsubjectaccessreviews'),
  rule(all, ['rbac.authorization.k8s.io'], 'rolebindings roles'),
]

const healthPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']

/** Roles in the order of creation; aggregating roles come after the aggregated ones. */
function roles(): JsonObject[] {
  const plain = [
    role('cluster-admin', [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ]),
    role('system:aggregate-to-view', viewRules, { into: 'view' }),
    role('system:aggregate-to-edit', editRules, { into: 'edit' }),
    role('system:aggregate-to-admin', adminRules, { into: 'admin' }),
    role('system:auth-delegator', [
      rule(['create'], ['authentication.k8s.io'], 'tokenreviews'),
      rule(['create'], ['authorization.k8s.io'], 'subjectaccessreviews'),
    ]),
    role('system:basic-user', [
      rule(['create'], ['authorization.k8s.io'], 'selfsubjectaccessreviews selfsubjectrulesreviews'),
      rule(['create'], ['authentication.k8s.io'], 'selfsubjectreviews'),
    ]),
    role('system:discovery', [
      paths(
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        '/healthz',
        '/livez',
        '/openapi',
        '/openapi/*',
        '/readyz',
        '/version',
        '/version/',
      ),
    ]),
    role('system:monitoring', [
      paths('/healthz', '/healthz/*', '/livez', '/livez/*', '/metrics', '/metrics/slis', '/readyz', '/readyz/*'),
      rule(['get'], [''], 'nodes/metrics'),
    ]),
    role('system:public-info-viewer', [paths(...healthPaths)]),
    role('system:service-account-issuer-discovery', [
      paths(
        '/.well-known/openid-configuration',
        '/.well-known/openid-configuration/',
        '/openid/v1/jwks',
        '/openid/v1/jwks/',
      ),
    ]),
  ]
  for (const [name, into] of [
    ['view', 'edit'],
    ['edit', 'admin'],
    ['admin', undefined],
  ] as const) {
    const collecting = role(name, [], { from: name, ...(into === undefined ? {} : { into }) })
    // The rules are set from the start, so that a cluster is usable before its controllers run.
    plain.push({ ...collecting, rules: aggregatedRules(collecting, plain) })
  }
  return plain
}

function role(name: string, rules: readonly Rule[], aggregation: { into?: string; from?: string } = {}): JsonObject {
  const { into, from } = aggregation
  const label = (target: string) => ({ [`rbac.authorization.k8s.io/aggregate-to-${target}`]: 'true' })
  return {
    apiVersion: API_VERSION,
    kind: 'ClusterRole',
    metadata: {
      name,
      labels: { [BOOTSTRAP_LABEL]: 'rbac-defaults', ...(into === undefined ? {} : label(into)) },
      annotations: { [AUTOUPDATE]: 'true' },
    },
    rules: [...rules],
    ...(from === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(from) }] } }),
  }
}

const boundGroups: Readonly<Record<string, readonly string[]>> = {
  'cluster-admin': ['system:masters'],
  'system:basic-user': ['system:authenticated'],
  'system:discovery': ['system:authenticated'],
  'system:monitoring': ['system:monitoring'],
  'system:public-info-viewer': ['system:authenticated', 'system:unauthenticated'],
  'system:service-account-issuer-discovery': ['system:serviceaccounts'],
}

function bindings(): JsonObject[] {
  const apiGroup = 'rbac.authorization.k8s.io'
  return Object.entries(boundGroups).map(([name, groups]) => ({
    apiVersion: API_VERSION,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels: { [BOOTSTRAP_LABEL]: 'rbac-defaults' }, annotations: { [AUTOUPDATE]: 'true' } },
    roleRef: { apiGroup, kind: 'ClusterRole', name },
    subjects: groups.map((group) => ({ kind: 'Group', apiGroup, name: group })),
  }))
}

/**
 * Creates the default roles and bindings that do not exist. Existing ones are not changed, so that a restart of a
 * persistent cluster keeps changes by users.
 */
export async function ensureDefaultRoles(api: Pick<ClusterApi, 'get' | 'create'>): Promise<void> {
  const wanted = [
    ...roles().map((object) => ({ resource: RBAC_RESOURCES.clusterRole, object })),
    ...bindings().map((object) => ({ resource: RBAC_RESOURCES.clusterRoleBinding, object })),
  ]
  for (const { resource, object } of wanted) {
    const { metadata } = object
    const name = String((metadata as JsonObject).name)
    if (api.get(resource, undefined, name) !== undefined) continue
    try {
      await api.create(resource, object)
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
    }
  }
}
