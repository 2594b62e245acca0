/** Pods as clusters have them: replicas of some hundred templates, with values of their own where the kubelet writes them. */
import type { Pod } from '@reeve/kube'

const TEMPLATES = 300
const NODES = 200

/** The pod with this number, out of 300 Deployments of different sizes. About 7 KiB of JSON, a third of it managedFields. */
export function realisticPod(index: number): Pod {
  const template = Math.floor(random(index, 0) ** 2 * TEMPLATES)
  const app = `service-${template}`
  const revision = hex(template, 1, 10)
  const name = `${app}-${revision}-${hex(index, 2, 5)}`
  const node = `ip-10-0-${index % 8}-${Math.floor(random(index, 3) * NODES)}.eu-central-1.compute.internal`
  const ip = `10.${Math.floor(index / 65_536) + 128}.${(index >> 8) & 255}.${index & 255}`
  const token = `kube-api-access-${hex(index, 4, 5)}`
  const createdMs = Date.UTC(2030, 0, 1) + Math.floor(random(index, 5) * 1e9)
  const time = (seconds: number) => `${new Date(createdMs + seconds * 1_000).toISOString().slice(0, 19)}Z`
  const labels = {
    'app.kubernetes.io/name': app,
    'app.kubernetes.io/part-of': `product-${template % 20}`,
    'pod-template-hash': revision,
  }
  const env = Array.from({ length: 4 + (template % 12) }, (_, item) =>
    item === 0
      ? { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } }
      : { name: `${app.toUpperCase().replace('-', '_')}_OPTION_${item}`, value: `https://peer-${item}.${app}:8443` },
  )
  const mounts = [
    { name: 'config', mountPath: '/etc/service' },
    { name: token, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
  ]
  const probe = {
    httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  }
  const image = `registry.example.com/team/${app}:1.${template % 7}.0`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      generateName: `${app}-${revision}-`,
      namespace: `team-${template % 40}`,
      uid: uid(index),
      resourceVersion: String(81_000_000 + index * 7),
      creationTimestamp: time(0),
      labels,
      annotations: { 'example.com/config-checksum': hex(template, 6, 64), 'example.com/network': `{"ip":"${ip}/24"}` },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `${app}-${revision}`,
          uid: uid(1_000_000 + template),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time: time(0),
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': {
              'f:generateName': {},
              'f:labels': Object.fromEntries(
                ['.', ...Object.keys(labels).map((key) => `f:${key}`)].map((k) => [k, {}]),
              ),
              'f:ownerReferences': { '.': {}, [`k:{"uid":"${uid(1_000_000 + template)}"}`]: {} },
            },
            'f:spec': {
              'f:containers': {
                'k:{"name":"main"}': {
                  '.': {},
                  'f:env': Object.fromEntries(
                    env.map((item) => [`k:{"name":"${item.name}"}`, { '.': {}, 'f:name': {}, 'f:value': {} }]),
                  ),
                  'f:image': {},
                  'f:imagePullPolicy': {},
                  'f:name': {},
                  'f:resources': { '.': {}, 'f:limits': { '.': {}, 'f:memory': {} }, 'f:requests': { '.': {} } },
                },
              },
              'f:dnsPolicy': {},
              'f:restartPolicy': {},
              'f:schedulerName': {},
            },
          },
        },
        {
          manager: 'kubelet',
          operation: 'Update',
          apiVersion: 'v1',
          time: time(9),
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:status': {
              'f:conditions': Object.fromEntries(
                ['ContainersReady', 'Initialized', 'Ready'].map((type) => [
                  `k:{"type":"${type}"}`,
                  { '.': {}, 'f:lastProbeTime': {}, 'f:lastTransitionTime': {}, 'f:status': {}, 'f:type': {} },
                ]),
              ),
              'f:containerStatuses': {},
              'f:hostIP': {},
              'f:phase': {},
              'f:podIP': {},
              'f:podIPs': { '.': {}, [`k:{"ip":"${ip}"}`]: { '.': {}, 'f:ip': {} } },
              'f:startTime': {},
            },
          },
          subresource: 'status',
        },
      ],
    },
    spec: {
      volumes: [
        { name: 'config', configMap: { name: `${app}-config`, defaultMode: 420 } },
        {
          name: token,
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            ],
            defaultMode: 420,
          },
        },
      ],
      containers: ['main', 'proxy'].map((container) => ({
        name: container,
        image: container === 'main' ? image : 'registry.example.com/mesh/proxy:4.5.6',
        ...(container === 'main' && { env, livenessProbe: probe, readinessProbe: probe }),
        ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
        resources: {
          limits: { memory: `${128 + template}Mi` },
          requests: { cpu: '100m', memory: `${64 + template}Mi` },
        },
        volumeMounts: mounts,
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      })),
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: app,
      nodeName: node,
      securityContext: { runAsNonRoot: true, runAsUser: 10_000 + template },
      schedulerName: 'default-scheduler',
      tolerations: ['not-ready', 'unreachable'].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        (type, item) => ({ type, status: 'True', lastProbeTime: null, lastTransitionTime: time(item * 2) }),
      ),
      hostIP: node.slice(3, node.indexOf('.')).replaceAll('-', '.'),
      podIP: ip,
      podIPs: [{ ip }],
      startTime: time(0),
      containerStatuses: ['main', 'proxy'].map((container, item) => ({
        name: container,
        state: { running: { startedAt: time(6 + item) } },
        lastState: {},
        ready: true,
        restartCount: Math.floor(random(index, 7) * 3),
        image: container === 'main' ? image : 'registry.example.com/mesh/proxy:4.5.6',
        imageID: `registry.example.com/team/${container}@sha256:${hex(item === 0 ? template : 0, 8, 64)}`,
        containerID: `containerd://${hex(index * 2 + item, 9, 64)}`,
        started: true,
      })),
      qosClass: 'Burstable',
    },
  } as Pod
}

/** Between 0 and 1, the same for the same arguments. */
function random(index: number, salt: number): number {
  let state = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(salt + 1, 0x85ebca6b)
  state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d)
  state = Math.imul(state ^ (state >>> 12), 0x297a2d39)
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
}

function hex(index: number, salt: number, length: number): string {
  let text = ''
  for (let part = 0; text.length < length; part++) {
    text += Math.floor(random(index, salt * 100 + part) * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  }
  return text.slice(0, length)
}

function uid(index: number): string {
  const text = hex(index, 10, 32)
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`
}
