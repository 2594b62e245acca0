/** Which features of a DynaKube are on, besides the OneAgent. */
import { featureFlags } from '../feature-flags.ts'
import type { DynaKube } from '../latest.ts'
import { isMode, modeSpec, needsOneAgentDaemonSet } from './one-agent-facts.ts'

/** Prometheus metrics are collected. */
export const hasPrometheus = ({ spec }: DynaKube): boolean => spec.extensions?.prometheus !== undefined

/** Databases are monitored. */
export const hasDatabases = ({ spec }: DynaKube): boolean => (spec.extensions?.databases ?? []).length > 0

/** Any extension is enabled; the section alone enables nothing. */
export const hasExtensions = (dynakube: DynaKube): boolean => hasPrometheus(dynakube) || hasDatabases(dynakube)

/** Logs are sent. */
export const hasLogMonitoring = ({ spec }: DynaKube): boolean => spec.logMonitoring !== undefined

/** Logs are sent by a separate agent, as no OneAgent runs on the nodes. */
export const hasStandaloneLogMonitoring = (dynakube: DynaKube): boolean =>
  hasLogMonitoring(dynakube) && !needsOneAgentDaemonSet(dynakube)

/** Configurations of nodes are checked. */
export const hasKspm = ({ spec }: DynaKube): boolean => spec.kspm !== undefined

/** The paths of nodes that are checked, each once and sorted. */
export const kspmHostPaths = ({ spec }: DynaKube): readonly string[] =>
  [...new Set(spec.kspm?.mappedHostPaths ?? [])].sort()

/** Telemetry is received. */
export const hasTelemetryIngest = ({ spec }: DynaKube): boolean => spec.telemetryIngest !== undefined

/** What can be received. */
export const INGEST_PROTOCOLS = ['otlp', 'jaeger', 'statsd', 'zipkin'] as const

/** What is received: all when nothing is chosen. */
export function ingestProtocols({ spec }: DynaKube): readonly string[] {
  const chosen = spec.telemetryIngest?.protocols ?? []
  return chosen.length > 0 ? chosen : INGEST_PROTOCOLS
}

/** Exporters of applications are configured for at least one signal. */
export function hasOtlpExporter({ spec }: DynaKube): boolean {
  const { metrics, traces, logs } = spec.otlpExporterConfiguration?.signals ?? {}
  return [metrics, traces, logs].some((signal) => signal !== undefined)
}

/** Pods get metadata. */
export const hasMetadataEnrichment = ({ spec }: DynaKube): boolean => spec.metadataEnrichment?.enabled === true

/** The image that code modules come from; empty when they are downloaded. */
export function customCodeModulesImage(dynakube: DynaKube, hasCsiDriver: boolean): string {
  if (isMode(dynakube, 'cloudNativeFullStack')) {
    return modeSpec(dynakube, 'cloudNativeFullStack')?.codeModulesImage ?? ''
  }
  const canUseImage = hasCsiDriver || featureFlags(dynakube).nodeImagePull
  return (canUseImage && modeSpec(dynakube, 'applicationMonitoring')?.codeModulesImage) || ''
}

/** When the image of code modules is pulled, if the DynaKube specifies it. */
export function codeModulesPullPolicy(dynakube: DynaKube): 'Always' | 'IfNotPresent' | 'Never' | undefined {
  const mode = isMode(dynakube, 'cloudNativeFullStack') ? 'cloudNativeFullStack' : 'applicationMonitoring'
  return modeSpec(dynakube, mode)?.codeModulesImagePullPolicy
}

/** Whether it is known which code modules pods get. */
export function areCodeModulesKnown(dynakube: DynaKube, hasCsiDriver: boolean): boolean {
  const { imageID, version } = dynakube.status?.codeModules ?? {}
  const isImage = customCodeModulesImage(dynakube, hasCsiDriver) !== '' || featureFlags(dynakube).publicRegistry
  return isImage ? Boolean(imageID) : Boolean(version) && version !== 'custom-image'
}

/** The rule of a tenant that copies a label or annotation of a namespace into telemetry. */
export interface EnrichmentRule {
  readonly type?: string
  readonly source?: string
  readonly target?: string
}

/** The annotation that carries the result of a rule; empty for a rule without a target. */
export const enrichmentAnnotation = ({ target }: EnrichmentRule): string =>
  target ? `metadata.dynatrace.com/${target}` : ''

/** The attribute that telemetry gets by a rule. */
export const enrichmentAttribute = ({ type = '', source = '', target }: EnrichmentRule): string =>
  target || `k8s.namespace.${type.toLowerCase()}.${source}`
