/** Conditions that tell whether the objects of a component are there. */
import { automaticTlsSecretName, customPropertiesSecretName } from '../../api/dynakube/active-gate-facts.ts'
import { TenantUnknownError } from '../../api/dynakube/environment-facts.ts'
import { FIXED_NAMES, namesOf, telemetryIngestServiceName } from '../../api/dynakube/names.ts'
import type { DynaKube } from '../../api/latest.ts'
import type { Applied, ApplyFailure } from './apply.ts'
import { NotYetKnownError } from './component.ts'
import { activeGateCertificate } from './components/active-gate/certificate.ts'
import { activeGateTenantSecret, oneAgentTenantSecret } from './components/connection/tenant-secrets.ts'
import { exporters } from './components/injection/exporter-secrets.ts'
import { injection } from './components/injection/source-secrets.ts'
import { istioForActiveGate, istioForCodeModules } from './components/istio/istio.ts'
import { InvalidAgentVersionError } from './components/one-agent/one-agent.ts'
import { UnknownProtocolError } from './components/otel-collector/config.ts'
import { CONDITIONS, FORMER_CONTROLLER_CONDITION, kubeApiMessage, REASONS } from './condition-types.ts'
import type { Rendered } from './render.ts'
import { BOOTSTRAPPER_CONDITION } from './resolve/process-modules.ts'
import { KeyNotFoundError, ReferenceNotFoundError } from './resolve/referenced.ts'
import { TokenError } from './resolve/tokens.ts'
import type { StatusDraft } from './status-draft.ts'

/** A condition for one object. */
interface ObjectCondition {
  readonly type: string
  /** The object; `undefined` stands for all of the component. */
  readonly name: string | undefined
  readonly reason: string
  /** When it could not be written. @default KubeApiError */
  readonly failureReason?: string
  /** What the message says after the name; absent when somebody else says that all is well. */
  readonly verb?: string
  /** Whether it tells which generation of the DynaKube is applied. @default false */
  readonly tellsGeneration?: boolean
}

const created = (
  type: string,
  kind: 'Secret' | 'Service' | 'StatefulSet' | 'DaemonSet',
  name: string,
): ObjectCondition => ({
  type,
  name,
  reason: `${kind}Created`,
  verb: 'created',
})

const configMap = (type: string, name: string): ObjectCondition => ({
  type,
  name,
  reason: 'ConfigMapCreatedOrUpdated',
  verb: 'created/updated',
})

const EXPORTER_CONDITION = 'OTLPExporterConfigSecret'
const ENDPOINT_CONDITION = 'OtelpApiEndpointConfigMap'
const CONFIG_CONDITION = 'OTELCConfigurationConfigMap'

const copied = (type: string, name: string): ObjectCondition => ({
  type,
  name,
  reason: 'SecretCreatedOrUpdated',
  verb: 'created/updated',
})

const istio = (type: string): ObjectCondition => ({
  type,
  name: undefined,
  reason: `${type}Changed`,
  failureReason: `${type}Failed`,
  verb: 'applied',
})

/** The environment was asked for what the Secret holds, which set the condition. */
const kept = (type: string, name: string): ObjectCondition => ({ type, name, reason: REASONS.secretCreated })

/** By the name of the component. */
const CONDITIONS_OF: Readonly<Record<string, (dynakube: DynaKube) => readonly ObjectCondition[]>> = {
  [istioForCodeModules.name]: () => [istio(CONDITIONS.istioForCodeModules)],
  [istioForActiveGate.name]: () => [istio(CONDITIONS.istioForActiveGate)],
  [oneAgentTenantSecret.name]: (dynakube) => [
    kept(CONDITIONS.oneAgentConnection, namesOf(dynakube).oneAgentTenantSecret),
  ],
  [activeGateTenantSecret.name]: (dynakube) => [
    kept(CONDITIONS.activeGateConnection, namesOf(dynakube).activeGateTenantSecret),
  ],
  'pull secret': (dynakube) => [created('PullSecret', 'Secret', namesOf(dynakube).pullSecret)],
  [activeGateCertificate.name]: (dynakube) => [
    created(CONDITIONS.activeGateTls, 'Secret', automaticTlsSecretName(dynakube)),
  ],
  ActiveGate: (dynakube) => [
    created('ActiveGateStatefulSet', 'StatefulSet', namesOf(dynakube).activeGate),
    kept(CONDITIONS.activeGateAuthToken, namesOf(dynakube).activeGateAuthTokenSecret),
    created('CustomPropertiesSecret', 'Secret', customPropertiesSecretName(dynakube)),
  ],
  extensions: (dynakube) => [
    created('ExtensionsSecret', 'Secret', namesOf(dynakube).extensionsTokenSecret),
    created('ExtensionsService', 'Service', namesOf(dynakube).extensionController),
    created(CONDITIONS.extensionsTls, 'Secret', `${namesOf(dynakube).extensionController}-tls`),
  ],
  'extension controller': (dynakube) => [
    created('ExtensionControllerStatefulSet', 'StatefulSet', namesOf(dynakube).extensionController),
  ],
  'database executors': () => [
    {
      type: 'DatabaseDatasourcesAvailable',
      name: undefined,
      reason: 'DeploymentsApplied',
      verb: 'applied',
      tellsGeneration: true,
    },
  ],
  'telemetry ingest': (dynakube) => [
    created('OTELCService', 'Service', telemetryIngestServiceName(dynakube)),
    configMap(ENDPOINT_CONDITION, FIXED_NAMES.otlpApiEndpoint),
    configMap(CONFIG_CONDITION, namesOf(dynakube).otelCollectorConfig),
  ],
  'OpenTelemetry collector': (dynakube) => [created('OtelStatefulSet', 'StatefulSet', namesOf(dynakube).otelCollector)],
  'log monitoring': (dynakube) => [
    created('LogMonitoringConfig', 'Secret', namesOf(dynakube).logMonitoringConfig),
    created('LogMonitoringDaemonSet', 'DaemonSet', namesOf(dynakube).logMonitoring),
  ],
  [injection.name]: (dynakube) => [
    copied(BOOTSTRAPPER_CONDITION, namesOf(dynakube).bootstrapperConfig),
    copied('BootstrapperCertsConfig', namesOf(dynakube).bootstrapperCerts),
  ],
  [exporters.name]: (dynakube) => [
    copied(EXPORTER_CONDITION, namesOf(dynakube).otlpExporterConfig),
    copied('OTLPExporterCertsConfig', namesOf(dynakube).otlpExporterCerts),
  ],
  OneAgent: (dynakube) => [created('OneAgentDaemonSet', 'DaemonSet', namesOf(dynakube).oneAgent)],
  KSPM: (dynakube) => [
    created('KSPMTokenSecret', 'Secret', namesOf(dynakube).kspmTokenSecret),
    created('NodeConfigCollectorDaemonSet', 'DaemonSet', namesOf(dynakube).nodeConfigCollector),
  ],
}

const SHOWN_NAMES = 3

/** Tells in conditions what became of the objects of each component. */
export function reportObjects(
  draft: StatusDraft,
  rendered: readonly Rendered[],
  { failures }: Pick<Applied, 'failures'>,
): void {
  draft.remove(FORMER_CONTROLLER_CONDITION)
  for (const one of rendered) {
    const conditions = CONDITIONS_OF[one.component.name]?.(draft.dynakube) ?? []
    for (const condition of conditions) reportOne(draft, condition, one, failures.get(one.component))
  }
}

function reportOne(
  draft: StatusDraft,
  condition: ObjectCondition,
  one: Rendered,
  failure: ApplyFailure | undefined,
): void {
  const { type, reason, failureReason = REASONS.kubeApiError, verb, tellsGeneration = false } = condition
  if (one.failure !== undefined) {
    reportUnrendered(draft, type, one.failure)
    return
  }
  const { generation } = draft.dynakube.metadata
  const all = one.objects.map(({ object }) => object.metadata.name ?? '')
  // Objects of different kinds may share a name.
  const names = [...new Set(condition.name === undefined ? all : all.filter((name) => name === condition.name))]
  const isWritten = failure === undefined || names.every((name) => all.lastIndexOf(name) < failure.index)
  if (!isWritten) draft.set(type, 'False', failureReason, kubeApiMessage(failure.error))
  else if (verb === undefined) return
  else if (names.length === 0) draft.remove(type)
  else draft.set(type, 'True', reason, `${shown(names)} ${verb}`, tellsGeneration ? generation : undefined)
}

function shown(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES
  return `${names.slice(0, SHOWN_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** What waits keeps what it says; what cannot be rendered says so. */
function reportUnrendered(draft: StatusDraft, type: string, failure: Error): void {
  const reason = reasonOf(type, failure)
  if (reason !== undefined) draft.set(type, 'False', reason, failure.message)
}

/** Sets that carry a hash of a Secret of the user. */
const NEED_CERTIFICATE = ['ExtensionControllerStatefulSet', 'OtelStatefulSet']

function reasonOf(type: string, failure: Error): string | undefined {
  if (failure instanceof InvalidAgentVersionError) return 'DaemonSetGenerationFailed'
  if (failure instanceof TokenError && type === EXPORTER_CONDITION) return 'SecretGenerationFailed'
  if (failure instanceof KeyNotFoundError && type === 'ActiveGateStatefulSet') return REASONS.kubeApiError
  if (failure instanceof ReferenceNotFoundError && NEED_CERTIFICATE.includes(type)) return REASONS.kubeApiError
  if (failure instanceof TenantUnknownError && type === ENDPOINT_CONDITION) return 'ConfigMapGenerationFailed'
  if (failure instanceof UnknownProtocolError && type === CONFIG_CONDITION) return 'ConfigMapGenerationFailed'
  if (failure instanceof NotYetKnownError && type === 'ExtensionControllerStatefulSet') return 'StatefulSetOutdated'
  return undefined
}
