/** Mistakes in pods that the server refuses, and what it says. */
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

// Nobody touches a pod that waits for a scheduler of its own.
const unscheduled = { ...podSpec(), schedulerName: 'nobody' }

export const podMistakes: readonly RecordedCase[] = [
  created('a pod without a spec', Pods),
  created('a pod without containers', Pods, { spec: { containers: [] } }),
  created('a pod whose name has capitals', Pods, { metadata: { name: 'Web' }, spec: podSpec() }),
  created('a pod with a name that is too long', Pods, { metadata: { name: 'a'.repeat(254) }, spec: podSpec() }),
  created('a pod with a wrong name prefix', Pods, { metadata: { name: 'ok', generateName: 'A_' }, spec: podSpec() }),
  created('a pod without a name', Pods, { metadata: { name: '' }, spec: podSpec() }),
  created('a pod with wrong labels', Pods, {
    metadata: {
      labels: { 'a b': 'c', ok: 'no spaces', 'A.b/c/d': 'x', '': 'y', 'example.com/': 'z', long: 'x'.repeat(64) },
    },
    spec: podSpec(),
  }),
  created('a pod with wrong annotations', Pods, {
    metadata: { annotations: { 'a b': 'c', 'Example.com/ok': 'x' } },
    spec: podSpec(),
  }),
  created('a pod with wrong finalizers', Pods, {
    metadata: { finalizers: ['plain', 'a b', 'example.com/ok', 'orphan', 'foregroundDeletion'] },
    spec: podSpec(),
  }),
  created('a pod with wrong owners', Pods, {
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
  created('a container with a wrong name', Pods, { spec: podSpec({ name: 'My_App' }) }),
  created('two containers of one name', Pods, { spec: { containers: [container, container] } }),
  created('an init container with the name of a container', Pods, {
    spec: { containers: [container], initContainers: [container] },
  }),
  inContainer('spaces around the image', { image: ' a ' }),
  inContainer('an unknown pull policy', { imagePullPolicy: 'Sometimes' }),
  inContainer('an unknown message policy', { terminationMessagePolicy: 'Loud' }),
  inContainer('a port out of range', { ports: [{ containerPort: 0 }, { containerPort: 70_000, name: 'b' }] }),
  inContainer('a host port out of range', { ports: [{ containerPort: 80, hostPort: -1 }] }),
  inContainer('an unknown protocol', { ports: [{ containerPort: 80, protocol: 'HTTP' }] }),
  inContainer('a wrong port name', { ports: [{ containerPort: 80, name: 'HTTP_port-name-too-long' }] }),
  inContainer('two ports of one name', {
    ports: [
      { containerPort: 80, name: 'http' },
      { containerPort: 81, name: 'http' },
    ],
  }),
  inContainer('a restart policy outside of init containers', { restartPolicy: 'Always' }),
  spec('two containers on one host port', {
    containers: [
      { ...container, ports: [{ containerPort: 80, hostPort: 80 }] },
      { ...container, name: 'b', ports: [{ containerPort: 81, hostPort: 80 }] },
    ],
  }),
  spec('a host network port that differs', {
    ...podSpec({ ports: [{ containerPort: 80, hostPort: 81 }] }),
    hostNetwork: true,
  }),
  variable('a variable without a name', { name: '' }),
  variable('a variable with a wrong name', { name: 'a=b' }),
  variable('a variable with value and source', { value: 'a', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
  variable('a variable with an empty source', { valueFrom: {} }),
  variable('a variable with two sources', {
    valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 'a', key: 'b' } },
  }),
  variable('a variable from an unknown field', { valueFrom: { fieldRef: { fieldPath: 'spec.unknown' } } }),
  variable('a variable from a field without a path', { valueFrom: { fieldRef: {} } }),
  variable('a variable from a label with a wrong key', {
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['a b']" } },
  }),
  variable('a variable from an unknown resource', { valueFrom: { resourceFieldRef: { resource: 'limits.disks' } } }),
  variable('a variable from a secret without a key', { valueFrom: { secretKeyRef: { name: 'a' } } }),
  inContainer('wrong sources of variables', {
    envFrom: [{}, { configMapRef: {} }, { prefix: 'a=', secretRef: { name: 'A' } }],
  }),
  resources('an amount below zero', { requests: { cpu: '-1' } }),
  resources('a request above the limit', {
    requests: { cpu: '2', memory: '1Gi' },
    limits: { cpu: '1', memory: '1Mi' },
  }),
  resources('unknown resources', { requests: { cpus: '1' }, limits: { 'kubernetes.io/x': '1', storage: '1Gi' } }),
  resources('a fraction of an extended resource', {
    requests: { 'example.com/gpu': '1' },
    limits: { 'example.com/gpu': '1.5' },
  }),
  resources('huge pages alone', { limits: { 'hugepages-2Mi': '2Mi' } }),
  probe('a probe without an action', { periodSeconds: 5 }),
  probe('a probe with two actions', { httpGet: { port: 80 }, exec: { command: ['a'] } }),
  probe('a probe with wrong numbers', {
    tcpSocket: { port: 80 },
    initialDelaySeconds: -1,
    timeoutSeconds: -1,
    periodSeconds: -1,
    failureThreshold: -1,
    successThreshold: -1,
  }),
  probe('a liveness probe with two successes', { tcpSocket: { port: 80 }, successThreshold: 2 }),
  probe('a probe on a wrong port', { httpGet: { port: 0 } }),
  probe('a probe on a port with a wrong name', { tcpSocket: { port: 'Not_A_Port' } }),
  probe('a probe with an unknown scheme', { httpGet: { port: 80, scheme: 'ftp' } }),
  probe('a probe with a wrong header', { httpGet: { port: 80, httpHeaders: [{ name: 'a b', value: '' }] } }),
  probe('a probe without a command', { exec: { command: [] } }),
  inContainer('a hook without an action', { lifecycle: { preStop: {} } }),
  inContainer('a mount of an unknown volume', { volumeMounts: [{ name: 'a', mountPath: '/a' }] }),
  spec('wrong mounts', {
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
  volume('a volume with a wrong name', { name: 'A_B', emptyDir: {} }),
  volume('two volumes of one name', { name: 'a' }, { name: 'a' }),
  volume('a volume of two kinds', { name: 'a', emptyDir: {}, hostPath: { path: '/a' } }),
  volume('a volume of a host without a path', { name: 'a', hostPath: { path: '' } }),
  volume('a volume of a host with a wrong path and type', { name: 'a', hostPath: { path: '/a/../b', type: 'Any' } }),
  volume('a volume of a secret without a name', { name: 'a', secret: {} }),
  volume('a volume of a config map with wrong items', {
    name: 'a',
    configMap: {
      items: [
        { key: '', path: '' },
        { key: 'a', path: '/b', mode: 512 },
      ],
      defaultMode: 4096,
    },
  }),
  volume('a volume of a claim without a name', { name: 'a', persistentVolumeClaim: { claimName: '' } }),
  volume('a volume of a claim with a wrong name', { name: 'a', persistentVolumeClaim: { claimName: 'A' } }),
  volume('a wrong projected volume', {
    name: 'a',
    projected: { sources: [{}, { secret: { name: '' } }, { serviceAccountToken: { path: '', expirationSeconds: 1 } }] },
  }),
  volume('a wrong downward volume', {
    name: 'a',
    downwardAPI: { items: [{ path: 'a' }, { path: 'b', fieldRef: { fieldPath: 'x' } }] },
  }),
  volume('a driver volume without a driver', { name: 'a', csi: { driver: '' } }),
  volume('an ephemeral volume without a template', { name: 'a', ephemeral: {} }),
  spec('an unknown restart policy', { restartPolicy: 'Maybe' }),
  spec('an unknown DNS policy', { dnsPolicy: 'Maybe' }),
  spec('DNS None without servers', { dnsPolicy: 'None' }),
  spec('a grace period below zero', { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 }),
  spec('a wrong service account name', { serviceAccountName: 'A_B' }),
  spec('an unknown service account', { serviceAccountName: 'nobody' }),
  spec('a wrong node name and selector', { nodeName: 'A_B', nodeSelector: { 'a b': 'c', d: 'e f' } }),
  spec('wrong host names', { hostname: 'A_B', subdomain: 'a.b', hostAliases: [{ ip: 'x', hostnames: ['A_B'] }] }),
  spec('wrong tolerations', {
    tolerations: [
      { operator: 'Exists', key: 'a', value: 'b' },
      { operator: 'Maybe', key: 'a' },
      { key: 'a b', operator: 'Exists' },
      { operator: 'Equal', value: 'a' },
      { key: 'a', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 5 },
      { key: 'a', effect: 'Never' },
    ],
  }),
  spec('a wrong affinity', {
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
  spec('wrong spread constraints', {
    topologySpreadConstraints: [{ maxSkew: 0, topologyKey: '', whenUnsatisfiable: 'Maybe', labelSelector: {} }],
  }),
  spec('an unknown priority class', { priorityClassName: 'nothing' }),
  spec('a priority that was not computed', { priority: 5 }),
  spec('contradicting security', {
    ...podSpec({ securityContext: { privileged: true, allowPrivilegeEscalation: false, runAsUser: -1 } }),
    securityContext: { runAsGroup: -1, fsGroupChangePolicy: 'Maybe', seccompProfile: { type: 'Localhost' } },
  }),
  spec('gates of one name', { schedulingGates: [{ name: 'a' }, { name: 'a' }] }),
  spec('gates and a node', { schedulingGates: [{ name: 'a' }], nodeName: 'node-1' }),
  spec('pull secrets without names', { imagePullSecrets: [{ name: '' }, { name: 'a' }] }),
  spec('ephemeral containers', { ephemeralContainers: [{ name: 'debug', image: 'a' }] }),
  patched(
    'another image for a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ name: 'main', image: 'b:2' }] } },
  ),
  patched(
    'another command for a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ name: 'main', command: ['b'] }] } },
  ),
  patched(
    'another container for a pod',
    Pods,
    { spec: unscheduled },
    { spec: { containers: [{ ...container, name: 'b' }] } },
  ),
  patched(
    'a longer deadline for a pod',
    Pods,
    { spec: { ...unscheduled, activeDeadlineSeconds: 5 } },
    { spec: { activeDeadlineSeconds: 6 } },
  ),
  patched(
    'other tolerations for a pod',
    Pods,
    { spec: unscheduled },
    { spec: { tolerations: [{ key: 'a', operator: 'Exists' }] } },
  ),
  patched('another node for a pod', Pods, { spec: unscheduled }, { spec: { nodeName: 'node-9' } }),
  patched('another label for a pod', Pods, { spec: unscheduled }, { metadata: { labels: { a: 'b' } } }),
]
