/** Objects that the server accepts with a warning. */
import { created, type JsonObject, type RecordedCase } from '../recorded-case.ts'
import { container, jobTemplate, podSpec, selector, template } from './parts.ts'
import {
  CronJobs,
  DaemonSets,
  Deployments,
  Ingresses,
  Jobs,
  Pods,
  ReplicaSets,
  Secrets,
  Services,
  StatefulSets,
} from './resources.ts'

const spec = (name: string, fields: JsonObject) =>
  created(`warning about ${name}`, Pods, { spec: { ...podSpec(), ...fields } })
const dotted = { metadata: { name: 'a.b' } }
const workload = { spec: { selector, template: template() } }

export const warnings: readonly RecordedCase[] = [
  created('warning about a pod with dots in its name', Pods, { ...dotted, spec: podSpec() }),
  created('warning about a deployment with dots in its name', Deployments, { ...dotted, ...workload }),
  created('warning about a replica set with dots in its name', ReplicaSets, { ...dotted, ...workload }),
  created('warning about a daemon set with dots in its name', DaemonSets, { ...dotted, ...workload }),
  created('warning about a stateful set with dots in its name', StatefulSets, { ...dotted, ...workload }),
  created('warning about a job with dots in its name', Jobs, { ...dotted, spec: { template: jobTemplate } }),
  created('warning about a cron job with dots in its name', CronJobs, {
    ...dotted,
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: jobTemplate } } },
  }),
  spec('a negative grace period', { terminationGracePeriodSeconds: -1 }),
  spec('deprecated node labels', {
    nodeSelector: { 'beta.kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' },
  }),
  spec(
    'a variable that hides another',
    podSpec({
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '1' },
        { name: 'A', value: '2' },
      ],
    }),
  ),
  spec(
    'a duplicate port',
    podSpec({ ports: [{ containerPort: 80 }, { containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }] }),
  ),
  spec('a fraction of a byte', podSpec({ resources: { limits: { memory: '0.1Gi' }, requests: { memory: '1m' } } })),
  spec(
    'a storage request of a fraction of a byte',
    podSpec({ resources: { limits: { 'ephemeral-storage': '0.1Gi' } } }),
  ),
  spec('pull secrets without names', { imagePullSecrets: [{ name: '' }, { name: 'a' }] }),
  spec('host aliases with the same address', {
    hostAliases: [
      { ip: '10.0.0.1', hostnames: ['a'] },
      { ip: '10.0.0.1', hostnames: ['b'] },
    ],
  }),
  spec('a deprecated runtime annotation', { containers: [container], dnsConfig: { searches: ['a', 'b'] } }),
  created('warning about a deployment with problems in its pods', Deployments, {
    spec: {
      selector,
      template: template({
        ...podSpec({
          env: [
            { name: 'A', value: '1' },
            { name: 'A', value: '2' },
          ],
        }),
        imagePullSecrets: [{}],
      }),
    },
  }),
  created('warning about an ingress with the deprecated class annotation', Ingresses, {
    metadata: { annotations: { 'kubernetes.io/ingress.class': 'nginx' } },
    spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
  }),
  created('warning about a headless service with affinity', Services, {
    spec: { clusterIP: 'None', selector: { a: 'b' }, sessionAffinity: 'ClientIP', ports: [{ port: 80 }] },
  }),
  created('warning about a TLS secret without a key', Secrets, {
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'tls.key': 'x' },
  }),
]
