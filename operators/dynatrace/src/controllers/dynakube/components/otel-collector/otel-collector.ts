/** The OpenTelemetry collectors: for metrics of Prometheus, for telemetry of applications, or both. */
import { type Container, type EnvVar, type PodSpec, type StatefulSet, StatefulSets } from '@reeve/kube'
import { type DesiredObject, desired, waiting } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasPrometheus, hasTelemetryIngest } from '../../../../api/dynakube/feature-facts.ts'
import {
  EXTENSION_CONTROLLER_PORT,
  extensionControllerHost,
  FIXED_NAMES,
  imagePullSecretNames,
  namesOf,
  tokensSecretName,
} from '../../../../api/dynakube/names.ts'
import { hasProxy } from '../../../../api/dynakube/proxy.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { ReferenceNotFoundError } from '../../../references/reference-error.ts'
import { ANNOTATIONS } from '../../../rendering/annotations.ts'
import { fromField } from '../../../rendering/container-env.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { imageOf, pullPolicyOf } from '../../../rendering/image.ts'
import { mountsOf, volumesOf } from '../../../rendering/mounted-volume.ts'
import { linuxNodes, onePerNode } from '../../../rendering/placement.ts'
import { encodeSecret, type SecretData } from '../../../rendering/secret-data.ts'
import { interchangeable } from '../../../rendering/stateful-set.ts'
import { placementOf, resourcesFrom } from '../../../rendering/user-settings.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import {
  type DynaKubeComponent,
  type DynaKubeInput,
  type RenderInput,
  renderInputOf,
  viewOf,
} from '../../dynakube-component.ts'
import { activeGateHost } from '../../no-proxy.ts'
import { isSetReady } from '../../workload-readiness.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { extensionsSecretHash } from '../extensions/controller.ts'
import { extensions } from '../extensions/extensions.ts'
import { EXTENSION_TOKEN_KEYS } from '../extensions/names.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { COLLECTOR, CONFIG_FILE, collectorLabels, ENDPOINT_KEY, FOLDERS } from './names.ts'
import { collectorConfigData, telemetryIngest } from './telemetry-ingest.ts'
import { collectorVolumes } from './volumes.ts'

const RUNTIME_PROFILE = { seccompProfile: { type: 'RuntimeDefault' } } as const

/** What rendering collectors needs. */
export interface CollectorFacts {
  /** The Secret of the user with the certificate of telemetry ingest, when it exists. */
  readonly telemetryTlsData?: SecretData
  /** How many collectors run now. */
  readonly collectorReplicas?: number
}

/** The OpenTelemetry collector. */
export const otelCollector: DynaKubeComponent<CollectorFacts> = {
  name: 'OpenTelemetry collector',
  needs: [tenant, telemetryIngest],
  after: [extensions, clusterEntity],
  isEnabled: (dynakube) => hasPrometheus(dynakube) || hasTelemetryIngest(dynakube),
  isReady: ({ primary, cache }) =>
    !hasPrometheus(primary) || isSetReady(namesOf(primary).otelCollector, primary, cache),
  mayOwn: (dynakube) => [{ resource: StatefulSets, name: namesOf(dynakube).otelCollector }],
  resolve(context) {
    const { primary } = context
    const view = viewOf(context)
    const name = primary.spec.telemetryIngest?.tlsRefName
    const telemetryTlsData = name ? view.secret(name) : undefined
    const collectorReplicas = view.statefulSetReplicas(namesOf(primary).otelCollector)
    return {
      ...(telemetryTlsData !== undefined && { telemetryTlsData }),
      ...(collectorReplicas !== undefined && { collectorReplicas }),
    }
  },
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { dynakube } = input
    if (hasTelemetryIngest(dynakube) && !tenantOf(engineInput).dataIngestToken) {
      return waiting(`dataIngestToken in the Secret ${tokensSecretName(dynakube)}`)
    }
    if (hasPrometheus(dynakube) && engineInput.factsOf(extensions) === undefined) {
      return waiting('the certificate of the extension controller')
    }
    return [renderStatefulSet(input, engineInput.facts, restartOn(engineInput))]
  },
  ...objectConditions([
    created('OtelStatefulSet', 'StatefulSet', (dynakube) => namesOf(dynakube).otelCollector, {
      unrendered: (failure) => (failure instanceof ReferenceNotFoundError ? REASONS.kubeApiError : undefined),
    }),
  ]),
}

const templateOf = ({ spec }: DynaKube) => spec.templates?.otelCollector

/** Replicas that an autoscaler has set stay. None are not of its making: autoscalers leave at least one. */
const replicasOf = (dynakube: DynaKube, { collectorReplicas }: CollectorFacts): number =>
  templateOf(dynakube)?.replicas ?? (collectorReplicas || 1)

function renderStatefulSet(
  input: RenderInput,
  facts: CollectorFacts,
  hashes: Readonly<Record<string, string>>,
): DesiredObject<StatefulSet> {
  const { dynakube } = input
  const replicas = replicasOf(dynakube, facts)
  const labels = collectorLabels(input)
  const template = templateOf(dynakube)
  return desired(
    StatefulSets,
    {
      metadata: {
        namespace: dynakube.metadata.namespace,
        name: namesOf(dynakube).otelCollector,
        labels: labels.all,
      },
      spec: interchangeable({ labels, template, hashes, replicas, spec: podSpec(input, replicas) }),
    },
    { onImmutable: 'recreate' },
  )
}

/** Annotations whose change restarts the pods. */
function restartOn(input: DynaKubeInput<CollectorFacts>): Readonly<Record<string, string>> {
  const { primary: dynakube, facts } = input
  return {
    ...(hasPrometheus(dynakube) && extensionsSecretHash(input)),
    ...(dynakube.spec.telemetryIngest?.tlsRefName && telemetrySecretHash(dynakube, facts)),
    ...(hasTelemetryIngest(dynakube) && { [ANNOTATIONS.telemetryConfig]: hashOf(collectorConfigData(dynakube)) }),
  }
}

/** *Errors*: {@link ReferenceNotFoundError} naming the Secret. */
function telemetrySecretHash(
  dynakube: DynaKube,
  { telemetryTlsData }: CollectorFacts,
): Readonly<Record<string, string>> {
  if (telemetryTlsData !== undefined) return { [ANNOTATIONS.telemetrySecret]: hashOf(encodeSecret(telemetryTlsData)) }
  const name = `${dynakube.metadata.namespace}/${dynakube.spec.telemetryIngest?.tlsRefName}`
  throw new ReferenceNotFoundError(`spec.telemetryIngest.tlsRefName: the Secret ${name} does not exist; create it`)
}

function podSpec(input: RenderInput, replicas: number): PodSpec {
  const { dynakube } = input
  const { tolerations, topologySpreadConstraints } = placementOf(templateOf(dynakube))
  return {
    serviceAccountName: COLLECTOR,
    serviceAccount: COLLECTOR,
    securityContext: RUNTIME_PROFILE,
    imagePullSecrets: imagePullSecretNames(dynakube).map((name) => ({ name })),
    affinity: linuxNodes('all'),
    topologySpreadConstraints: topologySpreadConstraints ?? onePerNode(collectorLabels(input).match),
    ...(tolerations && { tolerations }),
    containers: [container(dynakube, replicas)],
    volumes: volumesOf(collectorVolumes(dynakube)),
  }
}

function container(dynakube: RenderInput['dynakube'], replicas: number): Container {
  const resources = resourcesFrom(templateOf(dynakube)?.resources)
  return {
    name: 'collector',
    image: imageOf(templateOf(dynakube)?.imageRef),
    imagePullPolicy: pullPolicyOf(templateOf(dynakube)?.imageRef?.pullPolicy),
    args: argumentsOf(dynakube),
    env: [
      ...shardVariables(dynakube, replicas),
      ...clusterVariables(dynakube),
      ...proxyVariables(dynakube),
      ...prometheusVariables(dynakube),
      ...telemetryVariables(dynakube),
      ...trustVariables(dynakube),
    ],
    ...(resources && { resources }),
    securityContext: RUNTIME_PROFILE,
    volumeMounts: mountsOf(collectorVolumes(dynakube)),
  }
}

/** The part for Prometheus comes from the extension controller, the other one from a file. */
function argumentsOf(dynakube: DynaKube): readonly string[] {
  const controller = `${extensionControllerHost(dynakube)}:${EXTENSION_CONTROLLER_PORT.port}`
  const token = `${FOLDERS.tokens}/${EXTENSION_TOKEN_KEYS.datasource}`
  return [
    ...(hasPrometheus(dynakube)
      ? [`--config=eec://${controller}/otcconfig/prometheusMetrics#refresh-interval=5s&auth-file=${token}`]
      : []),
    ...(hasTelemetryIngest(dynakube) ? [`--config=file://${FOLDERS.config}/${CONFIG_FILE}`] : []),
  ]
}

function shardVariables(dynakube: DynaKube, replicas: number): readonly EnvVar[] {
  return [
    { name: 'SHARDS', value: String(replicas) },
    { name: 'POD_NAME_PREFIX', value: namesOf(dynakube).otelCollector },
    fromField('POD_NAME', "metadata.labels['statefulset.kubernetes.io/pod-name']"),
    fromField('SHARD_ID', "metadata.labels['apps.kubernetes.io/pod-index']"),
    { name: 'OTLP_GRPC_PORT', value: '10001' },
    { name: 'OTLP_HTTP_PORT', value: '10002' },
  ]
}

function clusterVariables({ status }: RenderInput['dynakube']): readonly EnvVar[] {
  return [
    { name: 'K8S_CLUSTER_NAME', value: status.kubernetesClusterName ?? '' },
    { name: 'K8S_CLUSTER_UID', value: status.kubeSystemUUID ?? '' },
    { name: 'DT_ENTITY_KUBERNETES_CLUSTER', value: status.kubernetesClusterMEID ?? '' },
  ]
}

function proxyVariables(dynakube: DynaKube): readonly EnvVar[] {
  if (!hasProxy(dynakube)) return []
  const { value, valueFrom } = dynakube.spec.proxy ?? {}
  const source = valueFrom ? { valueFrom: { secretKeyRef: { name: valueFrom, key: 'proxy' } } } : { value: value ?? '' }
  const parts = featureFlags(dynakube)
    .noProxy.split(',')
    .map((part) => part.trim())
  const hosts = [
    '$(KUBERNETES_SERVICE_HOST)',
    'kubernetes.default',
    ...(hasPrometheus(dynakube) ? [extensionControllerHost(dynakube)] : []),
    ...(hasActiveGate(dynakube) ? [activeGateHost(dynakube)] : []),
    ...parts.filter((part) => part !== ''),
  ]
  return [
    { name: 'HTTPS_PROXY', ...source },
    { name: 'HTTP_PROXY', ...source },
    { name: 'NO_PROXY', value: hosts.join(',') },
  ]
}

function prometheusVariables(dynakube: DynaKube): readonly EnvVar[] {
  if (!hasPrometheus(dynakube)) return []
  const token = { name: namesOf(dynakube).extensionsTokenSecret, key: EXTENSION_TOKEN_KEYS.datasource }
  return [
    { name: 'EEC_DS_TOKEN', valueFrom: { secretKeyRef: token } },
    { name: 'SSL_CERT_DIR', value: FOLDERS.extensionCertificate },
    { name: 'EXTENSIONS_CONTROLLER_TLS', value: `${FOLDERS.extensionCertificate}/tls.crt` },
  ]
}

function telemetryVariables(dynakube: DynaKube): readonly EnvVar[] {
  if (!hasTelemetryIngest(dynakube)) return []
  const endpoint = { name: FIXED_NAMES.otlpApiEndpoint, key: ENDPOINT_KEY }
  const token = { name: tokensSecretName(dynakube), key: 'dataIngestToken' }
  return [
    { name: ENDPOINT_KEY, valueFrom: { configMapKeyRef: endpoint } },
    fromField('MY_POD_IP', 'status.podIP'),
    { name: 'DT_DATA_INGEST_TOKEN', valueFrom: { secretKeyRef: token } },
  ]
}

function trustVariables(dynakube: DynaKube): readonly EnvVar[] {
  if (!hasPrometheus(dynakube) || !dynakube.spec.trustedCAs) return []
  return [{ name: 'TRUSTED_CAS', value: `${FOLDERS.trustedCertificates}/rootca.pem` }]
}
