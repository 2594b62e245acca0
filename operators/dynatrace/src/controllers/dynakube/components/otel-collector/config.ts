/** The configuration of collectors that receive telemetry. Variables are resolved by the collector itself. */
import { ownValue } from '@reeve/http'
import {
  collectorNeedsTrustedCertificates,
  hasActiveGateCertificate,
} from '../../../../api/dynakube/active-gate-facts.ts'
import { ingestProtocols } from '../../../../api/dynakube/feature-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { YamlTree } from '../../../rendering/yaml-text.ts'
import { FOLDERS } from './names.ts'
import { PROTOCOLS, type Protocol, type ProtocolPort, type Signal } from './protocols.ts'

/** An unknown protocol. */
export class UnknownProtocolError extends Error {
  readonly code = 'UNKNOWN_PROTOCOL'
  override readonly name = 'UnknownProtocolError'

  constructor(protocol: string) {
    super(`spec.telemetryIngest.protocols: unknown protocol "${protocol}"; use ${Object.keys(PROTOCOLS).join(', ')}`)
  }
}

/** An environment variable, as collectors write it. */
const variable = (name: string): string => `\${env:${name}}`

const HOST = variable('MY_POD_IP')
const EXPORTER = 'otlphttp'
const HEALTH_CHECK = 'health_check'

/** The configuration as a tree. *Errors*: {@link UnknownProtocolError}. */
export function collectorConfig(dynakube: DynaKube): YamlTree {
  const protocols = ingestProtocols(dynakube).map((name) => ({ name, ...protocolOf(name) }))
  return {
    connectors: {},
    receivers: Object.fromEntries(protocols.map((protocol) => [protocol.name, receiver(dynakube, protocol)])),
    processors: PROCESSORS,
    exporters: { [EXPORTER]: exporter(dynakube) },
    extensions: { [HEALTH_CHECK]: { endpoint: `${HOST}:13133` } },
    service: { extensions: [HEALTH_CHECK], pipelines: pipelines(protocols) },
  }
}

function protocolOf(name: string): Protocol {
  const protocol = ownValue(PROTOCOLS, name)
  if (protocol === undefined) throw new UnknownProtocolError(name)
  return protocol
}

function receiver(dynakube: DynaKube, { name, ports }: Protocol & { readonly name: string }): YamlTree {
  const endpoint = (port: ProtocolPort): YamlTree => ({
    endpoint: `${HOST}:${port.port}`,
    ...(port.transport === 'TCP' && serverCertificate(dynakube)),
  })
  const [first] = ports
  if (first !== undefined && first.path === undefined) {
    return { ...endpoint(first), ...(name === 'statsd' && { timer_histogram_mapping: HISTOGRAMS }) }
  }
  return { protocols: Object.fromEntries(ports.map((port) => [port.path ?? port.name, endpoint(port)])) }
}

function serverCertificate({ spec }: DynaKube): YamlTree {
  if (!spec.telemetryIngest?.tlsRefName) return {}
  const folder = FOLDERS.telemetryCertificate
  return { tls: { cert_file: `${folder}/tls.crt`, key_file: `${folder}/tls.key` } }
}

const HISTOGRAMS = [
  { statsd_type: 'histogram', observer_type: 'histogram', histogram: { max_size: 10 } },
  { statsd_type: 'timing', observer_type: 'histogram', histogram: { max_size: 100 } },
  { statsd_type: 'distribution', observer_type: 'histogram', histogram: { max_size: 100 } },
]

function exporter(dynakube: DynaKube): YamlTree {
  return {
    endpoint: variable('DT_ENDPOINT'),
    headers: { Authorization: `Api-Token ${variable('DT_DATA_INGEST_TOKEN')}` },
    ...trust(dynakube),
  }
}

/** A gateway shows a private certificate; the public endpoint one that the system may know as well. */
function trust(dynakube: DynaKube): YamlTree {
  if (hasActiveGateCertificate(dynakube)) return { tls: { ca_file: `${FOLDERS.gatewayCertificate}/cert.pem` } }
  if (!collectorNeedsTrustedCertificates(dynakube)) return {}
  return { tls: { ca_file: `${FOLDERS.trustedCertificates}/rootca.pem`, include_system_ca_certs_pool: true } }
}

const WORKLOADS = ['statefulset', 'replicaset', 'job', 'deployment', 'daemonset', 'cronjob'] as const

const attribute = (name: string): string => `attributes["${name}"]`
const isText = (name: string): string => `IsString(${attribute(name)})`

/** Later ones win: a Deployment over its ReplicaSet, a CronJob over its Job. */
const STATEMENTS: readonly string[] = [
  ...WORKLOADS.map((kind) => {
    const name = `k8s.${kind}.name`
    return `set(${attribute('k8s.workload.name')}, ${attribute(name)}) where ${isText(name)}`
  }),
  ...WORKLOADS.map((kind) => `set(${attribute('k8s.workload.kind')}, "${kind}") where ${isText(`k8s.${kind}.name`)}`),
  `set(${attribute('k8s.cluster.uid')}, "${variable('K8S_CLUSTER_UID')}") where ${attribute('k8s.cluster.uid')} == nil`,
  `set(${attribute('k8s.cluster.name')}, "${variable('K8S_CLUSTER_NAME')}")`,
  `set(${attribute('dt.kubernetes.workload.name')}, ${attribute('k8s.workload.name')})`,
  `set(${attribute('dt.kubernetes.workload.kind')}, ${attribute('k8s.workload.kind')})`,
  `set(${attribute('dt.entity.kubernetes_cluster')}, "${variable('DT_ENTITY_KUBERNETES_CLUSTER')}")`,
  ...WORKLOADS.map((kind) => `delete_key(attributes, "k8s.${kind}.name")`),
]

const ADD_POD_IP = `set(${attribute('k8s.pod.ip')}, ${attribute('ip')}) where ${attribute('k8s.pod.ip')} == nil`

const onResources = (statements: readonly string[]) => [{ context: 'resource', statements }]

const batch = (size: number, maximum = size): YamlTree => ({
  send_batch_size: size,
  send_batch_max_size: maximum,
  timeout: '60s',
})

const resourceAttribute = (name: string) => ({ from: 'resource_attribute', name })

const PROCESSORS: YamlTree = {
  cumulativetodelta: {},
  memory_limiter: { check_interval: '1s', limit_percentage: 70, spike_limit_percentage: 30 },
  'batch/traces': batch(5000),
  'batch/metrics': batch(3000),
  'batch/logs': batch(1800, 2000),
  k8sattributes: {
    extract: {
      metadata: [
        'k8s.cluster.uid',
        'k8s.node.name',
        'k8s.namespace.name',
        'k8s.pod.name',
        'k8s.pod.uid',
        'k8s.pod.ip',
        'k8s.deployment.name',
        'k8s.replicaset.name',
        'k8s.statefulset.name',
        'k8s.daemonset.name',
        'k8s.cronjob.name',
        'k8s.job.name',
      ],
      // A single dollar would be a variable of the collector.
      annotations: [{ from: 'pod', key_regex: 'metadata.dynatrace.com/(.*)', tag_name: '$$1' }],
    },
    pod_association: [
      { sources: [resourceAttribute('k8s.pod.name'), resourceAttribute('k8s.namespace.name')] },
      { sources: [resourceAttribute('k8s.pod.ip')] },
      { sources: [resourceAttribute('k8s.pod.uid')] },
      { sources: [{ from: 'connection' }] },
    ],
  },
  'transform/add-pod-ip': { error_mode: 'ignore', trace_statements: onResources([ADD_POD_IP]) },
  transform: {
    error_mode: 'ignore',
    log_statements: onResources(STATEMENTS),
    metric_statements: onResources(STATEMENTS),
    trace_statements: onResources(STATEMENTS),
  },
}

const ENRICHMENT = ['memory_limiter', 'transform/add-pod-ip', 'k8sattributes', 'transform'] as const

const PIPELINES: Readonly<Record<Signal, readonly string[]>> = {
  traces: [...ENRICHMENT, 'batch/traces'],
  metrics: [...ENRICHMENT, 'cumulativetodelta', 'batch/metrics'],
  logs: [...ENRICHMENT, 'batch/logs'],
}

/** A pipeline for each signal that some protocol carries. */
function pipelines(protocols: readonly (Protocol & { readonly name: string })[]): YamlTree {
  const signals = Object.entries(PIPELINES).map(([signal, processors]) => {
    const receivers = protocols.filter(({ signals: carried }) => carried.includes(signal as Signal))
    return [signal, { receivers: receivers.map(({ name }) => name), processors, exporters: [EXPORTER] }] as const
  })
  return Object.fromEntries(signals.filter(([, { receivers }]) => receivers.length > 0))
}
