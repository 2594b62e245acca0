/** Invalid pods, with the errors of the server. */
import { created, type JsonObject, patched, type RecordedCase } from '../recorded-case.ts'
import { container, podSpec } from './parts.ts'
import { Pods } from './resources.ts'

const spec = (name: string, fields: JsonObject) =>
  created(`a pod with ${name}`, Pods, { spec: { ...podSpec(), ...fields } })
const inContainer = (name: string, fields: JsonObject) =>
  created(`a container with ${name}`, Pods, { spec: podSpec(fields) })
const volume = (name: string, ...volumes: JsonObject[]) => spec(name, { volumes })
const variable = (name: string, fields: JsonObject) => inContainer(name, { env: [{ name: 'A', ...fields }] })
const probe = (name: string, fields: JsonObject) => inContainer(name, { livenessProbe: fields })
const resources = (name: string, fields: JsonObject) => inContainer(name, { resources: fields })

// A pod with its own scheduler name is not changed by other components.
const unscheduled = { ...podSpec(), schedulerName: 'nobody' }

export const invalidPods: readonly RecordedCase[] = [
  created('a pod without a spec', Pods),
  created('a pod without containers', Pods, { spec: { containers: [] } }),
  created('a pod with capital letters in its name', Pods, { metadata: { name: 'Web' }, spec: podSpec() }),
  created('a pod with a name that is too long', Pods, { metadata: { name: 'a'.repeat(254) }, spec: podSpec() }),
  created('a pod with an invalid name prefix', Pods, { metadata: { name: 'ok', generateName: 'A_' }, spec: podSpec() }),
  created('a pod without a name', Pods, { metadata: { name: '' }, spec: podSpec() }),
  created('a pod with invalid labels', Pods, {
    metadata: {
      labels: { 'a b': 'c', ok: 'no spaces', 'A.b/c/d': 'x', '': 'y', 'example.com/': 'z', long: 'x'.repeat(64) },
    },
    spec: podSpec(),
  }),
  created('a pod with invalid annotations', Pods, {
    metadata: { annotations: { 'a b': 'c', 'Example.com/ok': 'x' } },
    spec: podSpec(),
  }),
  created('a pod with invalid finalizers', Pods, {
    metadata: { finalizers: ['plain', 'a b', 'example.com/ok', 'orphan', 'foregroundDeletion'] },
    spec: podSpec(),
  }),
  created('a pod with invalid owners', Pods, {
    metadata: {
      ownerReferences: [
        { apiVersion: '', kind: '', name: '', uid: '' },
        { apiVersion: 'v1', kind: 'Event', name: 'a', uid: 'b' },
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'b', controller: true },
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'b', uid: 'c', controller: true },
      ],
    },
    spec: podSpec(),
  }),
  created('a container without a name and an image', Pods, { spec: { containers: [{}] } }),
  created('a container with an invalid name', Pods, { spec: podSpec({ name: 'My_App' }) }),
  created('two containers with the same name', Pods, { spec: { containers: [container, container] } }),
  created('an init container with the name of a container', Pods, {
    spec: { containers: [container], initContainers: [container] },
  }),
  inContainer('spaces around the image', { image: ' a ' }),
  inContainer('an unknown pull policy', { imagePullPolicy: 'Sometimes' }),
  inContainer('an unknown message policy', { terminationMessagePolicy: 'Loud' }),
  inContainer('a port out of range', { ports: [{ containerPort: 0 }, { containerPort: 70_000, name: 'b' }] }),
  inContainer('a host port out of range', { ports: [{ containerPort: 80, hostPort: -1 }] }),
  inContainer('an unknown protocol', { ports: [{ containerPort: 80, protocol: 'HTTP' }] }),
  inContainer('an invalid port name', { ports: [{ containerPort: 80, name: 'HTTP_port-name-too-long' }] }),
  inContainer('two ports with the same name', {
    ports: [
      { containerPort: 80, name: 'http' },
      { containerPort: 81, name: 'http' },
    ],
  }),
  inContainer('a restart policy outside init containers', { restartPolicy: 'Always' }),
  spec('two containers with the same host port', {
    containers: [
      { ...container, ports: [{ containerPort: 80, hostPort: 80 }] },
      { ...container, name: 'b', ports: [{ containerPort: 81, hostPort: 80 }] },
    ],
  }),
  spec('a different host port on the host network', {
    ...podSpec({ ports: [{ containerPort: 80, hostPort: 81 }] }),
    hostNetwork: true,
  }),
  variable('a variable without a name', { name: '' }),
  variable('a variable with an invalid name', { name: 'a=b' }),
  variable('a variable with value and source', { value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
  variable('a variable with an empty source', { valueFrom: {} }),
  variable('a variable with two sources', {
    valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'a', key: 'b' } },
  }),
  variable('a variable from an unknown field', { valueFrom: { fieldRef: { fieldPath: 'spec.unknown' } } }),
  variable('a variable from a field without a path', { valueFrom: { fieldRef: {} } }),
  variable('a variable from a label with an invalid key', {
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } },
  }),
  variable('a variable from an unknown resource', { valueFrom: { resourceFieldRef: { resource: 'limits.disks' } } }),
  variable('a variable from a secret without a key', { valueFrom: { secretKeyRef: { name: 'a' } } }),
  inContainer('invalid sources of variables', {
    envFrom: [{}, { configMapRef: {} }, { prefix: 'a=', secretRef: { name: 'A' } }],
  }),
  resources('a negative amount', { requests: { cpu: '-1' } }),
  resources('a request above the limit', {
    requests: { cpu: '2', memory: '1Gi' },
    limits: { cpu: '1', memory: '1Mi' },
  }),
  resources('unknown resources', { requests: { cpus: '1' }, limits: { 'kubernetes.io/x': '1', storage: '1Gi' } }),
  resources('a fraction of an extended resource', {
    requests: { 'example.com/gpu': '1' },
    limits: { 'example.com/gpu': '1.5' },
  }),
  resources('huge pages without other resources', { limits: { 'hugepages-2Mi': '2Mi' } }),
  probe('a probe without an action', { periodSeconds: 5 }),
  probe('a probe with two actions', { httpGet: { port: 80 }, exec: { command: ['a'] } }),
  probe('a probe with invalid numbers', {
    tcpSocket: { port: 80 },
    initialDelaySeconds: -1,
    timeoutSeconds: -1,
    periodSeconds: -1,
    failureThreshold: -1,
    successThreshold: -1,
  }),
  probe('a liveness probe with a success threshold of two', { tcpSocket: { port: 80 }, successThreshold: 2 }),
  probe('a probe on an invalid port', { httpGet: { port: 0 } }),
  probe('a probe on a port with an invalid name', { tcpSocket: { port: 'Not_A_Port' } }),
  probe('a probe with an unknown scheme', { httpGet: { port: 80, scheme: 'ftp' } }),
  probe('a probe with an invalid header', { httpGet: { port: 80, httpHeaders: [{ name: 'a b', value: '' }] } }),
  probe('a probe without a command', { exec: { command: [] } }),
  inContainer('a hook without an action', { lifecycle: { preStop: {} } }),
  inContainer('a mount of an unknown volume', { volumeMounts: [{ name: 'a', mountPath: '/a' }] }),
  spec('invalid mounts', {
    ...podSpec({
      volumeMounts: [
        { name: '', mountPath: '' },
        { name: 'a', mountPath: '/a:b' },
        { name: 'a', mountPath: '/x', subPath: '/absolute' },
        { name: 'a', mountPath: '/x', subPath: '../up' },
        { name: 'a', mountPath: '/z', mountPropagation: 'Sideways' },
      ],
    }),
    volumes: [{ name: 'a' }],
  }),
  volume('a volume without a name', { emptyDir: {} }),
  volume('a volume with an invalid name', { name: 'A_B', emptyDir: {} }),
  volume('two volumes with the same name', { name: 'a' }, { name: 'a' }),
  volume('a volume with two sources', { name: 'a', emptyDir: {}, hostPath: { path: '/a' } }),
  volume('a host path volume without a path', { name: 'a', hostPath: { path: '' } }),
  volume('a host path volume with an invalid path and type', { name: 'a', hostPath: { path: '/a/../b', type: 'Any' } }),
  volume('a secret volume without a name', { name: 'a', secret: {} }),
  volume('a config map volume with invalid items', {
    name: 'a',
    configMap: {
      items: [
        { key: '', path: '' },
        { key: 'a', path: '/b', mode: 512 },
      ],
      defaultMode: 4096,
    },
  }),
  volume('a claim volume without a name', { name: 'a', persistentVolumeClaim: { claimName: '' } }),
  volume('a claim volume with an invalid name', { name: 'a', persistentVolumeClaim: { claimName: 'A' } }),
  volume('an invalid projected volume', {
    name: 'a',
    projected: { sources: [{}, { secret: { name: '' } }, { serviceAccountToken: { path: '', expirationSeconds: 1 } }] },
  }),
  volume('an invalid downward API volume', {
    name: 'a',
    downwardAPI: { items: [{ path: 'a' }, { path: 'b', fieldRef: { fieldPath: 'x' } }] },
  }),
  volume('a CSI volume without a driver', { name: 'a', csi: { driver: '' } }),
  volume('an ephemeral volume without a template', { name: 'a', ephemeral: {} }),
  spec('an unknown restart policy', { restartPolicy: 'Maybe' }),
  spec('an unknown DNS policy', { dnsPolicy: 'Maybe' }),
  spec('DNS None without servers', { dnsPolicy: 'None' }),
  spec('a negative grace period', { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 }),
  spec('an invalid service account name', { serviceAccountName: 'A_B' }),
  spec('an unknown service account', { serviceAccountName: 'nobody' }),
  spec('an invalid node name and selector', { nodeName: 'A_B', nodeSelector: { 'a b': 'c', d: 'e f' } }),
  spec('invalid host names', { hostname: 'A_B', subdomain: 'a.b', hostAliases: [{ ip: 'x', hostnames: ['A_B'] }] }),
  spec('invalid tolerations', {
    tolerations: [
      { operator: 'Exists', key: 'a', value: 'b' },
      { operator: 'Maybe', key: 'a' },
      { key: 'a b', operator: 'Exists' },
      { operator: 'Equal', value: 'a' },
      { key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 },
      { key: 'a', effect: 'Never' },
    ],
  }),
  spec('an invalid affinity', {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 0, preference: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
        ],
      },
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: '' }] },
    },
  }),
  spec('invalid spread constraints', {
    topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Maybe', labelSelector: {} }],
  }),
  spec('an unknown priority class', { priorityClassName: 'nothing' }),
  spec('a priority that was not computed', { priority: 5 }),
  spec('inconsistent security settings', {
    ...podSpec({ securityContext: { privileged: true, allowPrivilegeEscalation: false, runAsUser: -1 } }),
    securityContext: { runAsGroup: -1, fsGroupChangePolicy: 'Maybe', seccompProfile: { type: 'Localhost' } },
  }),
  spec('gates with the same name', { schedulingGates: [{ name: 'a' }, { name: 'a' }] }),
  spec('gates and a node', { schedulingGates: [{ name: 'a' }], nodeName: 'node-1' }),
  spec('pull secrets without names', { imagePullSecrets: [{ name: '' }, { name: 'a' }] }),
  spec('ephemeral containers', { ephemeralContainers: [{ name: 'debug', image: 'a' }] }),
  patched(
    'a changed image of a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ name: 'main', image: 'b:2' }] } },
  ),
  patched(
    'a changed command of a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ name: 'main', command: ['b'] }] } },
  ),
  patched(
    'an added container of a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ ...container, name: 'b' }] } },
  ),
  patched(
    'an extended deadline of a pod',
    Pods,
    { spec: { ...unscheduled, activeDeadlineSeconds: 5 } },
    { spec: { activeDeadlineSeconds: 6 } },
  ),
  patched(
    'changed tolerations of a pod',
    Pods,
    { spec: unscheduled },
    { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
  ),
  patched('a changed node of a pod', Pods, { spec: unscheduled }, { spec: { nodeName: 'node-9' } }),
  patched('a changed label of a pod', Pods, { spec: unscheduled }, { metadata: { labels: { a: 'b' } } }),
]
