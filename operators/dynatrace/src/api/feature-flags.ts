/** Feature flags: settings of a DynaKube that are annotations instead of fields, with their defaults. */
import { parseBoolean, parseDurationMs, parseInteger } from './annotation-values.ts'
import type { DynaKube } from './latest.ts'

/** What the keys of all flags begin with. */
export const FEATURE_PREFIX = 'feature.dynatrace.com/'

/** A flag that should not be used anymore. */
export interface DeprecatedFlag {
  /** After {@link FEATURE_PREFIX}. */
  readonly name: string
  /** What to write instead. */
  readonly instead: string
  /** Whether it still does something. */
  readonly isEffective: boolean
  /** Whether users of it are warned. */
  readonly isWarned: boolean
}

/** Flags that have been replaced; those that are warned about come first, in the order of the warning. */
export const DEPRECATED_FLAGS: readonly DeprecatedFlag[] = [
  { name: 'oneagent-ignore-proxy', instead: 'the flag no-proxy', isEffective: true, isWarned: true },
  { name: 'activegate-updates', instead: 'spec.activeGate.image', isEffective: true, isWarned: true },
  { name: 'disable-activegate-updates', instead: 'spec.activeGate.image', isEffective: true, isWarned: true },
  {
    name: 'oneagent-max-unavailable',
    instead: 'rollingUpdate of the OneAgent mode and of spec.templates.logMonitoring',
    isEffective: true,
    isWarned: true,
  },
  { name: 'activegate-ignore-proxy', instead: 'the flag no-proxy', isEffective: true, isWarned: false },
  { name: 'max-csi-mount-attempts', instead: 'the flag max-csi-mount-timeout', isEffective: false, isWarned: false },
  { name: 'metadata-enrichment', instead: 'spec.metadataEnrichment.enabled', isEffective: false, isWarned: false },
  {
    name: 'disable-metadata-enrichment',
    instead: 'spec.metadataEnrichment.enabled',
    isEffective: false,
    isWarned: false,
  },
  {
    name: 'dynatrace-api-request-threshold',
    instead: 'spec.dynatraceApiRequestThreshold',
    isEffective: false,
    isWarned: false,
  },
  {
    name: 'oneagent-seccomp-profile',
    instead: 'secCompProfile of the OneAgent mode',
    isEffective: false,
    isWarned: false,
  },
]

/** The effective settings. */
export interface FeatureFlags {
  /** Images come from the public registry that the tenant names, instead of its own. */
  readonly publicRegistry: boolean
  /** Hosts that are reached without the proxy, separated by commas. */
  readonly noProxy: string
  /** With the capability kubernetes-monitoring: the cluster is announced to the tenant. */
  readonly automaticKubernetesApiMonitoring: boolean
  /** Under this name. */
  readonly kubernetesClusterName: string
  /** The cluster is shown in the Kubernetes app. */
  readonly kubernetesAppEnabled: boolean
  /** Gateways run under the AppArmor profile of the container runtime. */
  readonly activeGateAppArmor: boolean
  /** The operator makes a certificate for gateways that have none. */
  readonly automaticTlsCertificate: boolean
  /** Gateways are updated. */
  readonly activeGateUpdates: boolean
  readonly activeGateIgnoreProxy: boolean
  readonly oneAgentIgnoreProxy: boolean
  /** Nodes without an agent at most, while agents are replaced. */
  readonly oneAgentMaxUnavailable: number
  /** What code modules wait before they connect for the second time; -1 is their own choice. */
  readonly oneAgentInitialConnectRetryMs: number
  readonly oneAgentPrivileged: boolean
  readonly oneAgentSkipLivenessProbe: boolean
  /** The extension controller keeps its files in the folders of earlier releases. */
  readonly extensionControllerLegacyMounts: boolean
  /** The image with the code modules is pulled by the node instead of the CSI driver. */
  readonly nodeImagePull: boolean
  /** Pods that do not say are injected. */
  readonly automaticInjection: boolean
  readonly labelVersionDetection: boolean
  /** Whether a pod starts when its injection failed. */
  readonly injectionFailurePolicy: 'silent' | 'fail'
  readonly initContainerSeccompProfile: boolean
  /** For how long a failed mount is tried again. */
  readonly maxCsiMountTimeoutMs: number
  /** Pods with configured exporters reach the ActiveGate without their proxy. */
  readonly otlpExporterSetNoProxy: boolean
}

const DEFAULT_MOUNT_TIMEOUT_MS = 10 * 60_000
const ISTIO_CONNECT_RETRY_MS = 6_000

/** The value of a flag as written; empty if it is not set. */
export function flagText(dynakube: DynaKube, name: string): string {
  return dynakube.metadata.annotations?.[`${FEATURE_PREFIX}${name}`] ?? ''
}

/**
 * All flags of a DynaKube. Values that cannot be read count as not given; unknown flags are ignored.
 *
 * @example
 * if (featureFlags(dynakube).nodeImagePull) …
 */
export function featureFlags(dynakube: DynaKube): FeatureFlags {
  const text = (name: string) => flagText(dynakube, name)
  const isOn = (name: string, byDefault: boolean) => parseBoolean(text(name)) ?? byDefault
  return {
    publicRegistry: isOn('public-registry', false),
    noProxy: text('no-proxy'),
    automaticKubernetesApiMonitoring: isOn('automatic-kubernetes-api-monitoring', true),
    kubernetesClusterName: text('automatic-kubernetes-api-monitoring-cluster-name') || (dynakube.metadata.name ?? ''),
    kubernetesAppEnabled: isOn('k8s-app-enabled', false),
    activeGateAppArmor: isOn('activegate-apparmor', false),
    automaticTlsCertificate: isOn('automatic-tls-certificate', true),
    // Two flags for one setting: the positive one wins if it has any value, even an invalid one.
    activeGateUpdates:
      text('activegate-updates') === '' ? !isOn('disable-activegate-updates', false) : isOn('activegate-updates', true),
    activeGateIgnoreProxy: isOn('activegate-ignore-proxy', false),
    oneAgentIgnoreProxy: isOn('oneagent-ignore-proxy', false),
    oneAgentMaxUnavailable: parseInteger(text('oneagent-max-unavailable')) ?? 1,
    oneAgentInitialConnectRetryMs: initialConnectRetryMs(dynakube),
    oneAgentPrivileged: isOn('oneagent-privileged', false),
    oneAgentSkipLivenessProbe: isOn('oneagent-skip-liveness-probe', false),
    extensionControllerLegacyMounts: isOn('use-eec-legacy-mounts', true),
    nodeImagePull: isOn('node-image-pull', false),
    automaticInjection: isOn('automatic-injection', true),
    labelVersionDetection: isOn('label-version-detection', false),
    injectionFailurePolicy: text('injection-failure-policy') === 'fail' ? 'fail' : 'silent',
    initContainerSeccompProfile: isOn('init-container-seccomp-profile', false),
    maxCsiMountTimeoutMs: mountTimeoutMs(text('max-csi-mount-timeout')),
    otlpExporterSetNoProxy: isOn('otlp-exporter-configuration-set-no-proxy', true),
  }
}

/** The deprecated flags that a DynaKube uses and that are warned about. */
export function deprecatedFlagsInUse(dynakube: DynaKube): readonly DeprecatedFlag[] {
  return DEPRECATED_FLAGS.filter(({ name, isWarned }) => isWarned && flagText(dynakube, name) !== '')
}

function initialConnectRetryMs(dynakube: DynaKube): number {
  const given = parseInteger(flagText(dynakube, 'oneagent-initial-connect-retry-ms')) ?? -1
  // The sidecar of Istio is not ready when the application starts: the first attempt fails.
  return given === -1 && dynakube.spec.enableIstio ? ISTIO_CONNECT_RETRY_MS : given
}

function mountTimeoutMs(text: string): number {
  const given = parseDurationMs(text) ?? -1
  return given < 0 ? DEFAULT_MOUNT_TIMEOUT_MS : given
}
