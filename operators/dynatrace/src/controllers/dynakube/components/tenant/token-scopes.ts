/** What tokens must be allowed to do, by the features that need it. */
import { hasActiveGate, hasCapability, hasKubernetesMonitoring } from '../../../../api/dynakube/active-gate-facts.ts'
import {
  hasLogMonitoring,
  hasMetadataEnrichment,
  hasOtlpExporter,
  hasPrometheus,
  hasTelemetryIngest,
  ingestProtocols,
} from '../../../../api/dynakube/feature-facts.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { Tokens } from '../../../tenant-access/tokens.ts'
import type { ScopeSettings } from '../../dependencies.ts'

/** A feature, and the scopes it needs or can make use of. */
export interface TokenFeature {
  /** As users see it. */
  readonly name: string
  readonly required: readonly string[]
  readonly optional: readonly string[]
}

/** The scopes that features of a DynaKube need, by token. */
export interface TokenDemand {
  /** The key in the Secret. */
  readonly key: 'apiToken' | 'paasToken' | 'dataIngestToken'
  readonly value: string
  readonly features: readonly TokenFeature[]
}

/** The demands on every token that is present. A token that no feature uses must still be valid. */
export function tokenDemands(dynakube: DynaKube, tokens: Tokens, settings: ScopeSettings): readonly TokenDemand[] {
  return [
    { key: 'apiToken', value: tokens.apiToken, features: apiTokenFeatures(dynakube, tokens, settings) },
    ...(tokens.paasToken === undefined
      ? []
      : [
          {
            key: 'paasToken',
            value: tokens.paasToken,
            features: [requires('PaaS Token', 'InstallerDownload')],
          } as const,
        ]),
    ...(tokens.dataIngestToken === undefined
      ? []
      : [{ key: 'dataIngestToken', value: tokens.dataIngestToken, features: ingestFeatures(dynakube) } as const]),
  ]
}

/** The optional scopes that some feature can make use of. */
export function optionalScopes(dynakube: DynaKube, tokens: Tokens, settings: ScopeSettings): ReadonlySet<string> {
  return new Set(apiTokenFeatures(dynakube, tokens, settings).flatMap(({ optional }) => optional))
}

/** What a token with these scopes lacks, a sentence for each feature. */
export function missingScopes({ key, features }: TokenDemand, scopes: readonly string[]): readonly string[] {
  return features.flatMap(({ name, required }) => {
    const missing = required.filter((scope) => !scopes.includes(scope))
    if (missing.length === 0) return []
    return [`${key} lacks ${missing.join(', ')}, needed for "${name}"; add it, or use another token`]
  })
}

const requires = (name: string, ...required: readonly string[]): TokenFeature => ({ name, required, optional: [] })
const uses = (name: string, ...optional: readonly string[]): TokenFeature => ({ name, required: [], optional })

function apiTokenFeatures(dynakube: DynaKube, tokens: Tokens, settings: ScopeSettings): readonly TokenFeature[] {
  const isAnnounced = hasKubernetesMonitoring(dynakube) && featureFlags(dynakube).automaticKubernetesApiMonitoring
  const features: readonly (readonly [boolean, TokenFeature])[] = [
    [settings.detectsHostAvailability, requires('Access problem and event feed, metrics, and topology', 'DataExport')],
    [isAnnounced, uses('Kubernetes API Monitoring', 'settings.read', 'settings.write')],
    [hasLogMonitoring(dynakube), uses('LogMonitoring', 'settings.read', 'settings.write')],
    [needsAppInjection(dynakube), uses('CodeModule Injection', 'settings.read')],
    [hasTelemetryIngest(dynakube), uses('TelemetryIngest', 'settings.read')],
    [hasPrometheus(dynakube), uses('PrometheusExtensions', 'settings.read')],
    [hasActiveGate(dynakube), requires('Automatic ActiveGate Token Creation', 'activeGateTokenManagement.create')],
    [tokens.paasToken === undefined, requires('Download Installer', 'InstallerDownload')],
    [hasMetadataEnrichment(dynakube), uses('MetadataEnrichment Rules', 'settings.read')],
    [hasOtlpExporter(dynakube), uses('OTLP Auto-configuration', 'settings.read')],
  ]
  return enabled(features)
}

function ingestFeatures(dynakube: DynaKube): readonly TokenFeature[] {
  const protocols = hasTelemetryIngest(dynakube) ? ingestProtocols(dynakube) : []
  const { metrics, traces, logs } = dynakube.spec.otlpExporterConfiguration?.signals ?? {}
  const [METRICS, TRACES, LOGS] = ['metrics.ingest', 'openTelemetryTrace.ingest', 'logs.ingest'] as const
  return enabled([
    [hasCapability(dynakube, 'metrics-ingest'), requires('Data Ingest', METRICS)],
    [protocols.includes('otlp'), requires('Telemetry Ingest OTLP', METRICS, TRACES, LOGS)],
    [protocols.includes('zipkin'), requires('Telemetry Ingest Zipkin', TRACES)],
    [protocols.includes('jaeger'), requires('Telemetry Ingest Jaeger', TRACES)],
    [protocols.includes('statsd'), requires('Telemetry Ingest StatsD', METRICS)],
    [traces !== undefined, requires('OTLP trace exporter configuration', TRACES)],
    [logs !== undefined, requires('OTLP logs exporter configuration', LOGS)],
    [metrics !== undefined, requires('OTLP metrics exporter configuration', METRICS)],
  ])
}

function enabled(features: readonly (readonly [boolean, TokenFeature])[]): readonly TokenFeature[] {
  return features.filter(([isOn]) => isOn).map(([, feature]) => feature)
}
