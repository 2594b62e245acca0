/** Defaults of RBAC, webhooks, policies, leases, slices, ingresses and classes. */
import { created, type RecordedCase } from '../recorded-case.ts'
import { clientConfig, selector } from './parts.ts'
import {
  Autoscalers,
  AutoscalersV1,
  Budgets,
  ClusterRoleBindings,
  ClusterRoles,
  CsiCapacities,
  CsiDrivers,
  CsiNodes,
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
  VolumeAttachments,
} from './resources.ts'

const hook = {
  name: 'a.example.com',
  clientConfig,
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const rules = [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] }]
const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
const backend = { service: { name: 'web', port: { number: 80 } } }

export const otherDefaults: readonly RecordedCase[] = [
  created('a role', Roles, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  created('a role without rules', Roles),
  created('a cluster role that aggregates', ClusterRoles, {
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
  }),
  created('a cluster role for paths', ClusterRoles, { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }] }),
  created('a role binding', RoleBindings, {
    roleRef: { kind: 'Role', name: 'a' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ],
  }),
  created('a cluster role binding without subjects', ClusterRoleBindings, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  }),
  created('a mutating webhook', MutatingWebhooks, { webhooks: [{ ...hook, rules }] }),
  created('a mutating webhook with all fields', MutatingWebhooks, {
    webhooks: [
      {
        ...hook,
        clientConfig: { url: 'https://127.0.0.1:1/a', caBundle: '' },
        rules: [{ ...rules[0], scope: 'Namespaced' }],
        failurePolicy: 'Ignore',
        matchPolicy: 'Exact',
        timeoutSeconds: 1,
        reinvocationPolicy: 'IfNeeded',
        namespaceSelector: selector,
        objectSelector: {},
        matchConditions: [{ name: 'a', expression: 'true' }],
      },
    ],
  }),
  created('a validating webhook without rules', ValidatingWebhooks, { webhooks: [hook] }),
  created('an empty validating webhook configuration', ValidatingWebhooks),
  created('a disruption budget', Budgets, { spec: { selector, minAvailable: 1 } }),
  created('a disruption budget with a percentage', Budgets, {
    spec: { selector: {}, maxUnavailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  }),
  created('an autoscaler', Autoscalers, { spec: { scaleTargetRef, maxReplicas: 3 } }),
  created('an autoscaler with metrics and behaviour', Autoscalers, {
    spec: {
      scaleTargetRef,
      minReplicas: 2,
      maxReplicas: 3,
      metrics: [
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1024Mi' } } },
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 5 },
        scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] },
      },
    },
  }),
  created('an autoscaler of the first version', AutoscalersV1, { spec: { scaleTargetRef, maxReplicas: 3 } }),
  created('an autoscaler of the first version with a target', AutoscalersV1, {
    spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 50 },
  }),
  created('an ingress', Ingresses, {
    spec: { rules: [{ host: 'a.example.com', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
  }),
  created('an ingress with a default backend', Ingresses, {
    spec: { defaultBackend: backend, tls: [{ hosts: ['a'] }] },
  }),
  created('an ingress class', IngressClasses, {
    spec: { controller: 'example.com/a', parameters: { kind: 'Config', name: 'a' } },
  }),
  created('a network policy', NetworkPolicies, { spec: { podSelector: {} } }),
  created('a network policy with rules', NetworkPolicies, {
    spec: {
      podSelector: selector,
      ingress: [{ ports: [{ port: 80 }] }],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    },
  }),
  created('a network policy for egress', NetworkPolicies, {
    spec: { podSelector: {}, egress: [], policyTypes: ['Egress'] },
  }),
  created('a lease', Leases, {
    spec: { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2024-01-02T03:04:05.000006Z' },
  }),
  created('an empty lease', Leases),
  created('a slice', EndpointSlices, {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'], conditions: { ready: false } }],
    ports: [{ port: 80 }, { name: 'b', protocol: 'UDP', port: 53 }],
  }),
  created('an empty slice', EndpointSlices, { addressType: 'IPv4', endpoints: [] }),
  created('a storage class', StorageClasses, { provisioner: 'example.com/a' }),
  created('a storage class with all fields', StorageClasses, {
    provisioner: 'example.com/a',
    parameters: { a: 'b' },
    reclaimPolicy: 'Retain',
    volumeBindingMode: 'WaitForFirstConsumer',
    allowVolumeExpansion: false,
    mountOptions: ['ro'],
  }),
  created('a CSI driver', CsiDrivers, { spec: {} }),
  created('a CSI driver with all fields', CsiDrivers, {
    spec: { attachRequired: false, podInfoOnMount: true, volumeLifecycleModes: ['Ephemeral'], fsGroupPolicy: 'File' },
  }),
  created('a CSI node', CsiNodes, { spec: { drivers: [{ name: 'csi.example.com', nodeID: 'a' }] } }),
  created('a CSI capacity', CsiCapacities, { storageClassName: 'a', capacity: '1024Mi' }),
  created('a volume attachment', VolumeAttachments, {
    spec: { attacher: 'csi.example.com', nodeName: 'a', source: { persistentVolumeName: 'b' } },
  }),
  created('a priority class', PriorityClasses, { value: 100 }),
  created('a priority class that never preempts', PriorityClasses, {
    value: 0,
    preemptionPolicy: 'Never',
    description: 'a',
  }),
  created('a runtime class', RuntimeClasses, { handler: 'runc', overhead: { podFixed: { cpu: '0.5' } } }),
]
