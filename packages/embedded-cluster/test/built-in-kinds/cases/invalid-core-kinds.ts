/** Invalid services, configuration, storage, namespaces and nodes, with the errors of the server. */
import { collectionPath, created, type JsonObject, patched, type RecordedCase, replaced } from '../recorded-case.ts'
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

const service = (name: string, fields: JsonObject) =>
  created(`a service with ${name}`, Services, { spec: { ports: [port], ...fields } })
const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
// No volume is ever provisioned for an unknown class.
const unbound = { ...storage, storageClassName: 'nobody' }
const claim = (name: string, fields: JsonObject) =>
  created(`a claim with ${name}`, Claims, { spec: { ...storage, ...fields } })
const source = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } }
const persistentVolume = (name: string, fields: JsonObject) =>
  created(`a volume with ${name}`, Volumes, { spec: { ...source, ...fields } })
const involved = { involvedObject: { kind: 'Pod', namespace: 'recorded-namespace', name: 'a' } }

export const invalidCoreKinds: readonly RecordedCase[] = [
  created('a service without a spec', Services),
  service('no ports', { ports: [] }),
  service('a port out of range', { ports: [{ port: 0 }, { port: 70_000, name: 'b' }] }),
  service('two ports without names', { ports: [{ port: 80 }, { port: 81 }] }),
  service('two ports with the same name', {
    ports: [
      { port: 80, name: 'a' },
      { port: 81, name: 'a' },
    ],
  }),
  service('two ports with the same number', {
    ports: [
      { port: 80, name: 'a' },
      { port: 80, name: 'b' },
    ],
  }),
  service('invalid port names and protocols', { ports: [{ port: 80, name: 'A_B', protocol: 'HTTP' }] }),
  service('invalid target ports', {
    ports: [
      { port: 80, name: 'a', targetPort: -1 },
      { port: 81, name: 'b', targetPort: 'Not_A_Port' },
    ],
  }),
  service('an unknown type', { type: 'Magic' }),
  service('a node port on a ClusterIP service', { ports: [{ port: 80, nodePort: 30_042 }] }),
  {
    ...service('a node port out of range', {}),
    requests: [
      {
        method: 'POST',
        path: collectionPath(Services),
        body: {
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'range' },
          spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
        },
      },
    ],
  },
  service('the same node port twice', {
    type: 'NodePort',
    ports: [
      { port: 80, name: 'a', nodePort: 30_042 },
      { port: 81, name: 'b', nodePort: 30_042 },
    ],
  }),
  service('an invalid address', { clusterIP: 'here' }),
  service('an address of another range', { clusterIP: '192.168.0.1' }),
  service('two different addresses', { clusterIP: '10.0.0.200', clusterIPs: ['10.0.0.201'] }),
  service('an unknown family', { ipFamilies: ['IPv5'] }),
  service('a family that the cluster does not have', { ipFamilies: ['IPv6'] }),
  service('two families that the cluster does not have', { ipFamilyPolicy: 'RequireDualStack' }),
  service('an unknown affinity', { sessionAffinity: 'Cookie' }),
  service('an affinity timeout that is too long', {
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 100_000 } },
  }),
  service('a missing external name', { type: 'ExternalName' }),
  service('an invalid external name', { type: 'ExternalName', externalName: 'A_B' }),
  service('an external name and an address', { type: 'ExternalName', externalName: 'a.b', clusterIP: 'None' }),
  service('invalid traffic policies', {
    type: 'NodePort',
    externalTrafficPolicy: 'Maybe',
    internalTrafficPolicy: 'Maybe',
  }),
  service('a traffic policy on a ClusterIP service', { externalTrafficPolicy: 'Local' }),
  service('an invalid selector', { selector: { 'a b': 'c' } }),
  service('a load balancer without an address', { type: 'LoadBalancer', clusterIP: 'None' }),
  service('a load balancer class without a load balancer', { loadBalancerClass: 'example.com/a' }),
  service('ranges without a load balancer', { loadBalancerSourceRanges: ['10.0.0.0/8'] }),
  service('invalid ranges and external addresses', {
    type: 'LoadBalancer',
    loadBalancerSourceRanges: ['x'],
    externalIPs: ['127.0.0.1', 'y'],
  }),
  service('node ports without a load balancer', { allocateLoadBalancerNodePorts: true }),
  created('a service with a name that starts with a digit', Services, {
    metadata: { name: '1a' },
    spec: { ports: [port] },
  }),
  created('a service with a name that is too long', Services, {
    metadata: { name: 'a'.repeat(64) },
    spec: { ports: [port] },
  }),
  patched(
    'a changed address of a service',
    Services,
    { spec: { ports: [port] } },
    { spec: { clusterIP: '10.0.0.211' } },
  ),
  patched('a removed address of a service', Services, { spec: { ports: [port] } }, { spec: { clusterIP: 'None' } }),
  patched('a changed type of a service', Services, { spec: { ports: [port] } }, { spec: { type: 'NodePort' } }),
  patched(
    'a service changed to an external name',
    Services,
    { spec: { ports: [port] } },
    { spec: { type: 'ExternalName', externalName: 'a.b' } },
  ),
  patched('removed ports of a service', Services, { spec: { ports: [port] } }, { spec: { ports: null } }),
  patched(
    'a changed port of a node port service',
    Services,
    { spec: { type: 'NodePort', ports: [port] } },
    { spec: { ports: [{ port: 80, $patch: 'delete' }, { port: 81 }] } },
  ),
  created('a config map with invalid keys', ConfigMaps, {
    data: { 'a b': 'c', '..': 'd', '': 'e', [`${'a'.repeat(254)}`]: 'f' },
  }),
  created('a config map with a duplicate key', ConfigMaps, { data: { a: 'b' }, binaryData: { a: 'Yg==' } }),
  created('a config map that is too large', ConfigMaps, { data: { a: 'b'.repeat(1024 * 1024 + 1) } }),
  replaced(
    'changed data of an immutable config map',
    ConfigMaps,
    { data: { a: 'b' }, immutable: true },
    { data: { a: 'c' }, immutable: true },
  ),
  replaced(
    'a config map that is no longer immutable',
    ConfigMaps,
    { data: { a: 'b' }, immutable: true },
    { data: { a: 'b' } },
  ),
  created('a secret with invalid keys', Secrets, { data: { 'a b': 'Yg==' } }),
  created('a TLS secret without keys', Secrets, { type: 'kubernetes.io/tls' }),
  created('a registry secret without a key', Secrets, { type: 'kubernetes.io/dockerconfigjson' }),
  created('a registry secret that is not JSON', Secrets, {
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': 'x' },
  }),
  created('a basic secret without a user', Secrets, { type: 'kubernetes.io/basic-auth' }),
  created('an SSH secret without a key', Secrets, { type: 'kubernetes.io/ssh-auth' }),
  created('a token secret without an account', Secrets, { type: 'kubernetes.io/service-account-token' }),
  replaced('a changed type of a secret', Secrets, { type: 'a' }, { type: 'b' }),
  replaced(
    'changed data of an immutable secret',
    Secrets,
    { stringData: { a: 'b' }, immutable: true },
    { stringData: { a: 'c' }, immutable: true },
  ),
  created('a service account with an invalid name', ServiceAccounts, { metadata: { name: 'A' } }),
  created('an event in another namespace', Events, {
    involvedObject: { kind: 'Pod', namespace: 'elsewhere', name: 'a' },
  }),
  created('an event without an object', Events, { involvedObject: {} }),
  created('an event with an invalid type', NewEvents, { ...involved, type: 'Loud' }),
  created('a new event with missing fields', NewEvents, {
    regarding: { kind: 'Pod', namespace: 'recorded-namespace', name: 'a' },
    eventTime: '2024-01-02T03:04:05.000006Z',
  }),
  created('an event of the core group with only a time', Events, {
    ...involved,
    eventTime: '2024-01-02T03:04:05.000006Z',
  }),
  created('endpoints with invalid addresses', Endpoints, {
    subsets: [
      { addresses: [{ ip: 'x' }, { ip: '127.0.0.1' }], ports: [{ port: 0 }, { port: 80, name: 'A_B', protocol: 'x' }] },
      {},
    ],
  }),
  created('a limit range with inconsistent limits', LimitRanges, {
    spec: {
      limits: [
        {
          type: 'Container',
          min: { cpu: '2' },
          max: { cpu: '1' },
          default: { cpu: '3' },
          defaultRequest: { cpu: '4' },
        },
      ],
    },
  }),
  created('a limit range with defaults for pods', LimitRanges, {
    spec: { limits: [{ type: 'Pod', default: { cpu: '1' } }, { type: 'Pod' }, { type: 'x y' }] },
  }),
  created('a resource quota with invalid names', ResourceQuotas, {
    spec: { hard: { 'a b': '1', pods: '-1', cpu: '1.5', configmaps: '1.5' }, scopes: ['Maybe'] },
  }),
  created('a claim without a spec', Claims),
  claim('no size', { resources: {} }),
  claim('a size of zero', { resources: { requests: { storage: '0' } } }),
  claim('no access modes', { accessModes: [] }),
  claim('unknown access modes', { accessModes: ['Maybe'], volumeMode: 'Tape' }),
  claim('an exclusive access mode with others', { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] }),
  claim('an invalid class and selector', { storageClassName: 'A_B', selector: { matchLabels: { 'a b': 'c' } } }),
  claim('two sources', {
    dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
    dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
  }),
  claim('a source without a group', { dataSource: { kind: 'Secret', name: 'a' } }),
  replaced(
    'a changed class of a claim',
    Claims,
    { spec: { ...storage, storageClassName: 'a' } },
    { spec: { ...storage, storageClassName: 'b' } },
  ),
  replaced(
    'changed access modes of a claim',
    Claims,
    { spec: unbound },
    { spec: { ...unbound, accessModes: ['ReadWriteMany'] } },
  ),
  replaced(
    'a claim that shrinks',
    Claims,
    { spec: unbound },
    { spec: { ...unbound, resources: { requests: { storage: '1Mi' } } } },
  ),
  created('a volume without a spec', Volumes),
  persistentVolume('a capacity of zero', { capacity: { storage: '0' } }),
  persistentVolume('a capacity of another resource', { capacity: { cpu: '1' } }),
  persistentVolume('no access modes', { accessModes: [] }),
  persistentVolume('unknown modes and policies', {
    accessModes: ['Maybe'],
    persistentVolumeReclaimPolicy: 'Burn',
    volumeMode: 'Tape',
  }),
  persistentVolume('no source', { hostPath: null }),
  persistentVolume('two sources', { nfs: { server: 'a', path: '/b' } }),
  persistentVolume('a driver without names', { hostPath: null, csi: { driver: '', volumeHandle: '' } }),
  created('a namespace with dots', Namespaces, { metadata: { name: 'a.b' } }),
  created('a namespace with a name that is too long', Namespaces, { metadata: { name: 'a'.repeat(64) } }),
  created('a namespace with an invalid finalizer', Namespaces, { spec: { finalizers: ['a b'] } }),
  created('a node with invalid addresses and taints', Nodes, {
    spec: {
      podCIDR: 'x',
      taints: [
        { key: 'a b', effect: 'Never' },
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', effect: 'NoSchedule' },
      ],
    },
  }),
]
