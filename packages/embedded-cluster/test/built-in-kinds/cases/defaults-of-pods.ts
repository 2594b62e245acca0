/** Defaults of pods and pod templates. */
import { created, type RecordedCase } from '../recorded-case.ts'
import { container, podSpec, template } from './parts.ts'
import { Pods, PodTemplates } from './resources.ts'

export const podDefaults: readonly RecordedCase[] = [
  created('a minimal pod', Pods, { spec: podSpec() }),
  created('a pod with an untagged image', Pods, { spec: podSpec({ image: 'app' }) }),
  created('a pod with an image tagged latest', Pods, { spec: podSpec({ image: 'host:5000/app:latest' }) }),
  created('a pod with an image of a registry with port and no tag', Pods, {
    spec: podSpec({ image: 'host:5000/app' }),
  }),
  created('a pod with an image digest', Pods, { spec: podSpec({ image: `app@sha256:${'a'.repeat(64)}` }) }),
  created('a pod with ports', Pods, {
    spec: podSpec({ ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }] }),
  }),
  created('a pod on the host network', Pods, {
    spec: { ...podSpec({ ports: [{ containerPort: 80 }] }), hostNetwork: true },
  }),
  created('a pod with probes', Pods, {
    spec: podSpec({
      livenessProbe: { httpGet: { port: 80 } },
      readinessProbe: { tcpSocket: { port: 'http' }, timeoutSeconds: 0, periodSeconds: 3 },
      startupProbe: { exec: { command: ['true'] } },
      ports: [{ name: 'http', containerPort: 80 }],
    }),
  }),
  created('a pod with a grpc probe', Pods, { spec: podSpec({ livenessProbe: { grpc: { port: 80 } } }) }),
  created('a pod with hooks', Pods, {
    spec: podSpec({
      lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { exec: { command: ['stop'] } } },
    }),
  }),
  created('a pod with limits and no requests', Pods, {
    spec: podSpec({ resources: { limits: { cpu: '0.5', memory: '1024Mi' }, requests: { memory: '0.5Gi' } } }),
  }),
  created('a pod with equal requests and limits', Pods, {
    spec: podSpec({
      resources: { limits: { cpu: '1000m', memory: '1Gi' }, requests: { cpu: 1, memory: '1024Mi' } },
    }),
  }),
  created('a pod with a request only', Pods, { spec: podSpec({ resources: { requests: { cpu: '100m' } } }) }),
  created('a pod with an extended resource', Pods, {
    spec: podSpec({ resources: { limits: { 'example.com/gpu': '2' } } }),
  }),
  created('a pod with init and sidecar containers', Pods, {
    spec: {
      initContainers: [
        { name: 'first', image: 'a:1' },
        { name: 'sidecar', image: 'b', restartPolicy: 'Always' },
      ],
      containers: [container],
    },
  }),
  created('a pod with variables', Pods, {
    spec: podSpec({
      env: [
        { name: 'EMPTY', value: '' },
        { name: 'A', value: 'b' },
        { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
        { name: 'LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'SECRET', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
      ],
      envFrom: [{ configMapRef: { name: 'c' } }],
    }),
  }),
  created('a pod with volumes of many kinds', Pods, {
    spec: {
      ...podSpec({
        volumeMounts: [
          { name: 'empty', mountPath: '/a' },
          { name: 'host', mountPath: '/b', readOnly: false },
        ],
      }),
      volumes: [
        { name: 'empty' },
        { name: 'sized', emptyDir: { sizeLimit: '1024Mi' } },
        { name: 'host', hostPath: { path: '/var' } },
        { name: 'secret', secret: { secretName: 's' } },
        { name: 'config', configMap: { name: 'c', items: [{ key: 'a', path: 'b' }] } },
        { name: 'downward', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        {
          name: 'projected',
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token' } },
              { configMap: { name: 'c' } },
              { downwardAPI: { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] } },
            ],
          },
        },
        { name: 'claim', persistentVolumeClaim: { claimName: 'x' } },
        { name: 'csi', csi: { driver: 'csi.example.com' } },
        {
          name: 'ephemeral',
          ephemeral: {
            volumeClaimTemplate: {
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1024Mi' } } },
            },
          },
        },
        { name: 'nfs', nfs: { server: 'a', path: '/b' } },
        { name: 'iscsi', iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.2001-04.com.example:a', lun: 0 } },
      ],
    },
  }),
  created('a pod with a topology spread constraint and affinities', Pods, {
    metadata: { labels: { app: 'web' } },
    spec: {
      ...podSpec(),
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
        },
      ],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
          },
        },
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 1, podAffinityTerm: { topologyKey: 'host', labelSelector: { matchLabels: { a: 'b' } } } },
          ],
        },
      },
    },
  }),
  created('a pod with security contexts', Pods, {
    spec: {
      ...podSpec({
        securityContext: { runAsNonRoot: true, privileged: false, capabilities: { drop: ['ALL'], add: [] } },
      }),
      securityContext: { fsGroup: 1, runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } },
    },
  }),
  created('a pod with tolerations', Pods, {
    spec: {
      ...podSpec(),
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }, { key: 'a' }],
    },
  }),
  created('a pod with a service account in the deprecated field', Pods, {
    spec: { ...podSpec(), serviceAccount: 'default' },
  }),
  created('a pod without a service account token', Pods, {
    spec: { ...podSpec(), automountServiceAccountToken: false, enableServiceLinks: false, hostIPC: false },
  }),
  created('a pod that is not restarted', Pods, {
    spec: { ...podSpec(), restartPolicy: 'Never', terminationGracePeriodSeconds: 0, activeDeadlineSeconds: 5 },
  }),
  created('a pod with a priority class', Pods, { spec: { ...podSpec(), priorityClassName: 'system-node-critical' } }),
  created('a pod with scheduling gates', Pods, {
    spec: { ...podSpec(), schedulingGates: [{ name: 'example.com/wait' }] },
  }),
  created('a pod with host names', Pods, {
    spec: {
      ...podSpec(),
      hostname: 'a',
      subdomain: 'b',
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['x'] }],
      dnsConfig: { nameservers: ['10.0.0.1'], options: [{ name: 'ndots', value: '1' }] },
    },
  }),
  created('a pod with nulls and empty values', Pods, {
    metadata: { labels: {}, annotations: null, finalizers: [] },
    spec: {
      ...podSpec({ args: [], command: null, env: [], resources: { limits: {} }, workingDir: '', stdin: false }),
      nodeSelector: {},
      tolerations: null,
      imagePullSecrets: [{}],
      hostname: '',
    },
  }),
  created('a pod with a status', Pods, { spec: podSpec(), status: { phase: 'Running', podIP: '10.0.0.1' } }),
  created('a pod with a node name', Pods, { spec: { ...podSpec(), nodeName: 'node-1' } }),
  created('a pod template', PodTemplates, { template: template() }),
  created('a pod template without a pod', PodTemplates, {}),
]
