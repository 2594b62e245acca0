/**
 * What workloads of the Dynatrace Operator 1.8.1 have, of which nothing may differ: names and selectors cannot be changed
 * without creating them again, and anything else here replaces their pods.
 */

/** What identifies a workload and its pods. */
export interface KnownWorkload {
  readonly selector: Readonly<Record<string, string>>
  /** Of its pods, besides those of the selector; the values of `null` are versions. */
  readonly labels: Readonly<Record<string, string | null>>
  /** Keys of annotations of its pods. */
  readonly annotations: readonly string[]
  readonly initContainers: readonly string[]
  readonly containers: readonly string[]
  readonly account: string
  readonly claims: readonly string[]
}

const NAME = 'app.kubernetes.io/name'
const CREATED_BY = 'app.kubernetes.io/created-by'
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const COMPONENT = 'app.kubernetes.io/component'
const VERSION = 'app.kubernetes.io/version'
const internal = (name: string) => `internal.operator.dynatrace.com/${name}`

/** Selected by its name, its owner and the operator. */
const app = (name: string, owner: string, component = name) => ({
  selector: { [NAME]: name, [CREATED_BY]: owner, [MANAGED_BY]: 'dynatrace-operator' },
  labels: { [COMPONENT]: component, [VERSION]: null },
  annotations: [],
  initContainers: [],
  claims: [],
})

/** Selected as a part of the operator. */
const ownComponent = (component: string, owner: string) => ({
  selector: { [NAME]: 'dynatrace-operator', [CREATED_BY]: owner, [COMPONENT]: component },
  labels: { [VERSION]: null },
  annotations: [],
  initContainers: [],
  claims: [],
})

const oneAgent = (component: string): KnownWorkload => ({
  ...app('oneagent', 'cluster', component),
  annotations: [
    'cluster-autoscaler.kubernetes.io/enable-ds-eviction',
    'container.apparmor.security.beta.kubernetes.io/dynatrace-oneagent',
    'dynatrace.com/inject',
    internal('tenant-token-hash'),
  ],
  initContainers: ['dynatrace-operator'],
  containers: ['dynatrace-oneagent'],
  account: 'dynatrace-dynakube-oneagent',
})

const activeGate: KnownWorkload = {
  ...app('activegate', 'cluster'),
  annotations: [
    'dynatrace.com/split-mounts',
    internal('activegate-configuration-hash'),
    internal('activegate-tenant-token-hash'),
  ],
  containers: ['activegate'],
  account: 'dynatrace-activegate',
}

/** With the certificate of the API server, which it monitors. */
const monitoringGate: KnownWorkload = { ...activeGate, initContainers: ['certificate-loader'] }

const logAgent: KnownWorkload = {
  ...ownComponent('logmonitoring', 'cluster'),
  annotations: [internal('no-proxy'), internal('tenant-token-hash')],
  initContainers: ['init-volume'],
  containers: ['main'],
  account: 'dynatrace-logmonitoring',
}

const nodeConfigCollector: KnownWorkload = {
  ...ownComponent('kspm', 'cluster'),
  annotations: [internal('kspm-token-secret-hash')],
  containers: ['node-config-collector'],
  account: 'dynatrace-node-config-collector',
}

const extensionController: KnownWorkload = {
  ...app('dynatrace-extension-controller', 'cluster'),
  annotations: [internal('extensions-secret-hash')],
  containers: ['extension-controller'],
  account: 'dynatrace-extension-controller',
  claims: ['agent-runtime'],
}

const collector: KnownWorkload = {
  ...app('dynatrace-otel-collector', 'cluster'),
  annotations: [internal('extensions-secret-hash'), internal('telemetry-ingest-config-hash')],
  containers: ['collector'],
  account: 'dynatrace-otel-collector',
}

const databaseExecutor: KnownWorkload = {
  ...app('dynatrace-sql-extension-executor', 'cluster'),
  labels: {
    [COMPONENT]: 'dynatrace-sql-extension-executor',
    [VERSION]: null,
    'extensions.dynatrace.com/datasource': 'sql',
    'extensions.dynatrace.com/executor.id': 'orders',
  },
  containers: ['sql-executor'],
  account: 'dynatrace-sql-ext-exec',
}

/** With telemetry, gateways keep what they receive on a volume; with KSPM they know its token. */
const fullGate: KnownWorkload = {
  ...monitoringGate,
  annotations: [...activeGate.annotations, internal('kspm-token-secret-hash')],
  claims: ['ag-tmp-gateway'],
}

/** The workloads of the DynaKube `cluster` in each mode, by kind and name. */
export const KNOWN_WORKLOADS = {
  everything: {
    'DaemonSet cluster-node-config-collector': nodeConfigCollector,
    'DaemonSet cluster-oneagent': oneAgent('cloudnativefullstack'),
    'Deployment cluster-sql-ext-exec-orders': databaseExecutor,
    'StatefulSet cluster-activegate': fullGate,
    'StatefulSet cluster-extension-controller': extensionController,
    'StatefulSet cluster-otel-collector': collector,
  },
  classicFullStack: {
    'DaemonSet cluster-oneagent': oneAgent('classicfullstack'),
    'StatefulSet cluster-activegate': monitoringGate,
  },
  hostMonitoring: {
    'DaemonSet cluster-oneagent': oneAgent('hostmonitoring'),
    'StatefulSet cluster-activegate': activeGate,
  },
  applicationMonitoring: {
    'StatefulSet cluster-activegate': { ...activeGate, claims: ['ag-tmp-gateway'] },
  },
  logs: {
    'DaemonSet cluster-logmonitoring': logAgent,
    'StatefulSet cluster-activegate': monitoringGate,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, KnownWorkload>>>>

/** The workload of the EdgeConnect `office`. */
export const KNOWN_EDGE_CONNECT: Readonly<Record<string, KnownWorkload>> = {
  'Deployment office': {
    ...app('edgeconnect', 'office', 'user-provisioned'),
    annotations: [internal('secret-hash')],
    containers: ['edge-connect'],
    account: 'dynatrace-edgeconnect',
  },
}
