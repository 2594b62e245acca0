/** Invalid RBAC, webhooks, policies, leases, slices, ingresses and classes. */
import { created, type JsonObject, type RecordedCase, replaced } from '../recorded-case.ts'
import { clientConfig, selector } from './parts.ts'
import {
  Autoscalers,
  Budgets,
  ClusterRoleBindings,
  ClusterRoles,
  CsiDrivers,
  EndpointSlices,
  IngressClasses,
  Ingresses,
  Leases,
  MutatingWebhooks,
  NetworkPolicies,
  PriorityClasses,
  RoleBindings,
  Roles,
  RuntimeClasses,
  StorageClasses,
  ValidatingWebhooks,
} from './resources.ts'

const role = (name: string, ...rules: JsonObject[]) => created(`a role with ${name}`, Roles, { rules })
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' }
const binding = (name: string, fields: JsonObject) =>
  created(`a binding with ${name}`, RoleBindings, { roleRef, ...fields })
const hook = {
  name: 'a.example.com',
  clientConfig,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }],
}
const webhook = (name: string, fields: JsonObject) =>
  created(`a webhook with ${name}`, ValidatingWebhooks, { webhooks: [{ ...hook, ...fields }] })
const rule = (name: string, fields: JsonObject) => webhook(name, { rules: [{ ...hook.rules[0], ...fields }] })
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const autoscaler = (name: string, fields: JsonObject) =>
  created(`an autoscaler with ${name}`, Autoscalers, { spec: { scaleTargetRef, maxReplicas: 3, ...fields } })
const metric = (name: string, fields: JsonObject) => autoscaler(name, { metrics: [fields] })
const backend = { service: { name: 'web', port: { number: 80 } } }
const path = (name: string, fields: JsonObject) =>
  created(`an ingress with ${name}`, Ingresses, {
    spec: { rules: [{ http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...fields }] } }] },
  })
const ingress = (name: string, spec: JsonObject) => created(`an ingress with ${name}`, Ingresses, { spec })
const policy = (name: string, fields: JsonObject) =>
  created(`a network policy with ${name}`, NetworkPolicies, { spec: { podSelector: {}, ...fields } })
const slice = (name: string, fields: JsonObject) =>
  created(`a slice with ${name}`, EndpointSlices, { addressType: 'IPv4', endpoints: [], ...fields })

export const invalidOtherKinds: readonly RecordedCase[] = [
  role('a rule without verbs', { apiGroups: [''], resources: ['pods'], verbs: [] }),
  role('a rule without groups', { resources: ['pods'], verbs: ['get'] }),
  role('a rule without resources', { apiGroups: [''], verbs: ['get'] }),
  role('a rule with paths in a namespaced role', { nonResourceURLs: ['/metrics'], verbs: ['get'] }),
  created('a cluster role that mixes paths and resources', ClusterRoles, {
    rules: [{ nonResourceURLs: ['/metrics'], resources: ['pods'], apiGroups: [''], verbs: ['get'] }],
  }),
  created('a cluster role that aggregates nothing', ClusterRoles, { aggregationRule: {} }),
  created('a role with a slash in its name', Roles, { metadata: { name: 'a%b' } }),
  binding('no role reference', { roleRef: {} }),
  binding('an unknown kind of role', { roleRef: { ...roleRef, kind: 'Rule' } }),
  binding('a role of another group', { roleRef: { ...roleRef, apiGroup: 'example.com' } }),
  binding('invalid subjects', {
    subjects: [
      { kind: 'User', name: '' },
      { kind: 'ServiceAccount', name: 'A', namespace: '' },
      { kind: 'Robot', name: 'a' },
      { kind: 'User', name: 'a', apiGroup: 'example.com' },
      { kind: 'ServiceAccount', name: 'a', namespace: 'b', apiGroup: 'rbac.authorization.k8s.io' },
    ],
  }),
  created('a cluster binding of a role', ClusterRoleBindings, { roleRef }),
  replaced('a changed role of a binding', RoleBindings, { roleRef }, { roleRef: { ...roleRef, name: 'b' } }),
  webhook('a name without dots', { name: 'hook' }),
  webhook('no name', { name: '' }),
  webhook('no side effects declared', { sideEffects: null }),
  webhook('deprecated side effects', { sideEffects: 'Unknown' }),
  webhook('no versions', { admissionReviewVersions: [] }),
  webhook('unknown versions', { admissionReviewVersions: ['v7', 'V_8', 'v7'] }),
  webhook('unknown policies', { failurePolicy: 'Maybe', matchPolicy: 'Maybe', timeoutSeconds: 31 }),
  webhook('no client configuration', { clientConfig: {} }),
  webhook('two client configurations', { clientConfig: { ...clientConfig, url: 'https://example.com' } }),
  webhook('an http URL', { clientConfig: { url: 'http://user@example.com/a?b#c' } }),
  webhook('a service without a name', { clientConfig: { service: { namespace: '', name: '', path: 'a', port: 0 } } }),
  webhook('an invalid selector', { namespaceSelector: { matchLabels: { 'a b': 'c' } } }),
  webhook('conditions with the same name', {
    matchConditions: [
      { name: 'a', expression: 'true' },
      { name: 'a', expression: '' },
    ],
  }),
  webhook('a condition that does not compile', { matchConditions: [{ name: 'a', expression: 'x +' }] }),
  rule('a rule without operations', { operations: [] }),
  rule('an unknown operation', { operations: ['READ', '*', 'CREATE'] }),
  rule('an empty rule', { apiGroups: [], apiVersions: [], resources: [] }),
  rule('wildcards combined with other values', {
    apiGroups: ['*', 'apps'],
    apiVersions: ['*', 'v1'],
    resources: ['*', 'pods', 'pods/*', 'pods/status'],
  }),
  rule('an unknown scope', { scope: 'Galaxy' }),
  created('two webhooks with the same name', MutatingWebhooks, { webhooks: [hook, hook] }),
  created('a mutating webhook with an unknown policy', MutatingWebhooks, {
    webhooks: [{ ...hook, reinvocationPolicy: 'Maybe' }],
  }),
  created('a disruption budget with two numbers', Budgets, { spec: { selector, minAvailable: 1, maxUnavailable: 1 } }),
  created('a disruption budget with invalid numbers', Budgets, {
    spec: { selector, minAvailable: '101%', unhealthyPodEvictionPolicy: 'Maybe' },
  }),
  created('a disruption budget with negative numbers', Budgets, { spec: { selector, maxUnavailable: -1 } }),
  created('a disruption budget with an invalid selector', Budgets, {
    spec: { selector: { matchLabels: { 'a b': 'c' } }, maxUnavailable: 1 },
  }),
  created('an autoscaler without a spec', Autoscalers),
  autoscaler('a maximum of zero', { maxReplicas: 0 }),
  autoscaler('a maximum below the minimum', { minReplicas: 5 }),
  autoscaler('a minimum of zero', { minReplicas: 0 }),
  autoscaler('no target', { scaleTargetRef: {} }),
  metric('a metric of an unknown type', { type: 'Magic' }),
  metric('a metric without its source', { type: 'Resource' }),
  metric('a metric without a target', { type: 'Resource', resource: { name: 'cpu', target: {} } }),
  metric('a metric with two targets', {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0, averageValue: '1' } },
  }),
  autoscaler('invalid behaviour', {
    behavior: {
      scaleUp: {
        selectPolicy: 'Maybe',
        stabilizationWindowSeconds: 4000,
        policies: [{ type: 'x', value: 0, periodSeconds: 0 }],
      },
    },
  }),
  ingress('nothing', {}),
  ingress('a rule with an invalid host', { rules: [{ host: 'A_B' }, { host: '10.0.0.1' }, { host: '*.*.a' }] }),
  ingress('a rule without paths', { rules: [{ http: { paths: [] } }] }),
  path('no path type', { pathType: null }),
  path('an unknown path type', { pathType: 'Regex' }),
  path('a relative path', { path: 'a' }),
  path('a path with dots', { path: '/a//b/../c%2f' }),
  path('no backend', { backend: {} }),
  path('a backend without a port', { backend: { service: { name: 'web' } } }),
  path('a backend with two ports', { backend: { service: { name: 'A_B', port: { name: 'a', number: 80 } } } }),
  path('two backends', { backend: { ...backend, resource: { kind: 'a', name: 'b' } } }),
  ingress('an invalid class and host', { defaultBackend: backend, ingressClassName: 'A_B', tls: [{ hosts: ['A_B'] }] }),
  created('an ingress class without a controller', IngressClasses, { spec: { controller: 'plain' } }),
  created('an ingress class with invalid parameters', IngressClasses, {
    spec: { controller: 'a.b/c', parameters: { kind: '', name: '', scope: 'Galaxy' } },
  }),
  policy('an unknown type', { policyTypes: ['Sideways'] }),
  policy('invalid ports', {
    ingress: [{ ports: [{ port: 0 }, { port: 'Not_A_Port' }, { port: 80, endPort: 79 }, { protocol: 'x' }] }],
  }),
  policy('invalid peers', {
    ingress: [
      {
        from: [
          {},
          { ipBlock: { cidr: 'x' } },
          { ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/8'] }, podSelector: {} },
        ],
      },
    ],
  }),
  created('a lease with invalid numbers', Leases, {
    spec: { leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: '' },
  }),
  slice('an unknown family', { addressType: 'IPX' }),
  slice('no family', { addressType: '' }),
  slice('invalid addresses', { endpoints: [{ addresses: [] }, { addresses: ['x', '127.0.0.1'] }] }),
  slice('invalid ports', { ports: [{ port: 80, name: 'A_B' }, { name: 'a' }, { name: 'a', protocol: 'x' }] }),
  created('a storage class without a provisioner', StorageClasses, {}),
  created('a storage class with unknown policies', StorageClasses, {
    provisioner: 'a b',
    reclaimPolicy: 'Burn',
    volumeBindingMode: 'Maybe',
    parameters: { '': 'a' },
  }),
  created('a CSI driver with unknown modes', CsiDrivers, {
    spec: { volumeLifecycleModes: ['Maybe'], fsGroupPolicy: 'Maybe' },
  }),
  replaced(
    'a changed provisioner of a storage class',
    StorageClasses,
    { provisioner: 'example.com/a' },
    { provisioner: 'example.com/b' },
  ),
  created('a priority class with a value that is too high', PriorityClasses, { value: 2_000_000_000 }),
  created('a priority class with a system name', PriorityClasses, { metadata: { name: 'system-mine' }, value: 1 }),
  created('a priority class with an unknown policy', PriorityClasses, { value: 1, preemptionPolicy: 'Maybe' }),
  replaced('a changed value of a priority class', PriorityClasses, { value: 1 }, { value: 2 }),
  created('a runtime class with an invalid handler', RuntimeClasses, { handler: 'A_B' }),
  created('a runtime class without a handler', RuntimeClasses, {}),
]
