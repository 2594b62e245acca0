/** Defaults of services, configuration, storage, namespaces and nodes. */
import { created, type RecordedCase } from '../recorded-case.ts'
import { port } from './parts.ts'
import {
  Claims,
  ConfigMaps,
  Endpoints,
  Events,
  LimitRanges,
  Namespaces,
  NewEvents,
  Nodes,
  ResourceQuotas,
  Secrets,
  ServiceAccounts,
  Services,
  Volumes,
} from './resources.ts'

const storageRequest = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } }
const eventOfPod = { involvedObject: { kind: 'Pod', namespace: 'recorded-namespace', name: 'a' } }

export const coreDefaults: readonly RecordedCase[] = [
  created('a minimal service', Services, { spec: { ports: [port] } }),
  created('a service with a named target port', Services, {
    spec: {
      selector: { app: 'web' },
      ports: [
        { ...port, name: 'http', targetPort: 'http' },
        { port: 53, protocol: 'UDP', name: 'dns' },
      ],
    },
  }),
  created('a headless service', Services, { spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [port] } }),
  created('a headless service without a selector', Services, { spec: { clusterIP: 'None' } }),
  created('a node port service', Services, { spec: { type: 'NodePort', ports: [port] } }),
  created('a service with a chosen node port', Services, {
    spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_042 }] },
  }),
  created('a load balancer service', Services, { spec: { type: 'LoadBalancer', ports: [port] } }),
  created('a load balancer service for local traffic', Services, {
    spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [port] },
  }),
  created('a load balancer service without node ports', Services, {
    spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false, ports: [port] },
  }),
  created('an external name service', Services, { spec: { type: 'ExternalName', externalName: 'example.com' } }),
  created('a service with session affinity', Services, { spec: { sessionAffinity: 'ClientIP', ports: [port] } }),
  created('a service for several families', Services, { spec: { ipFamilyPolicy: 'PreferDualStack', ports: [port] } }),
  created('endpoints', Endpoints, { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80 }] }] }),
  created('empty endpoints', Endpoints, { subsets: [] }),
  created('a config map', ConfigMaps, { data: { a: 'b', empty: '' }, binaryData: { c: 'AAE=' } }),
  created('an empty config map', ConfigMaps, { data: {} }),
  created('a config map with null', ConfigMaps, { data: { a: null } }),
  created('an immutable config map', ConfigMaps, { data: { a: 'b' }, immutable: true }),
  created('a secret', Secrets, { data: { a: 'Yg==' } }),
  created('a secret with stringData', Secrets, { data: { a: 'Yg==', b: 'Yg==' }, stringData: { b: 'c', d: 'é' } }),
  created('an empty secret', Secrets),
  created('a TLS secret', Secrets, { type: 'kubernetes.io/tls', data: { 'tls.crt': '', 'tls.key': '' } }),
  created('a service account', ServiceAccounts),
  created('a service account with secrets', ServiceAccounts, {
    secrets: [{ name: 'a' }],
    imagePullSecrets: [{ name: 'b' }],
    automountServiceAccountToken: false,
  }),
  created('an event', Events, eventOfPod),
  created('an event with times', Events, {
    ...eventOfPod,
    reason: 'Started',
    type: 'Normal',
    message: 'text',
    count: 1,
    firstTimestamp: '2024-01-02T03:04:05+01:00',
    lastTimestamp: '2024-01-02T03:04:05Z',
    eventTime: null,
    source: { component: 'test' },
  }),
  created('a new event', NewEvents, {
    regarding: { kind: 'Pod', namespace: 'recorded-namespace', name: 'a' },
    eventTime: '2024-01-02T03:04:05.000006Z',
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
    action: 'Start',
    reason: 'Started',
    type: 'Normal',
    note: 'text',
  }),
  created('a limit range', LimitRanges, {
    spec: {
      limits: [
        { type: 'Container', max: { cpu: '2000m' }, min: { memory: '1Mi' } },
        { type: 'Pod', max: { memory: '1Gi' } },
      ],
    },
  }),
  created('a resource quota', ResourceQuotas, { spec: { hard: { pods: '10', 'requests.cpu': '1000m' } } }),
  created('a claim', Claims, { spec: storageRequest }),
  created('a claim with a class and a source', Claims, {
    spec: {
      ...storageRequest,
      storageClassName: '',
      volumeMode: 'Block',
      dataSource: { kind: 'PersistentVolumeClaim', name: 'other' },
    },
  }),
  created('a volume', Volumes, {
    spec: { capacity: { storage: '1024Mi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
  }),
  created('a volume of a driver with a claim', Volumes, {
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      csi: { driver: 'csi.example.com', volumeHandle: 'a' },
      claimRef: { name: 'a', namespace: 'b' },
      storageClassName: 'fast',
    },
  }),
  created('a namespace', Namespaces),
  created('a namespace with finalizers and status', Namespaces, {
    spec: { finalizers: ['example.com/a'] },
    status: { phase: 'Terminating' },
  }),
  created('a node', Nodes),
  created('a node with spec and status', Nodes, {
    spec: { podCIDR: '10.1.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] },
    status: { capacity: { cpu: '4000m', memory: '1024Mi' } },
  }),
]
