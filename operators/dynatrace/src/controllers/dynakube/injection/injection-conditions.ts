/** Conditions about what pods are injected with, and in how many namespaces. */
import type { CacheReader } from '@reeve/runtime'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES, namesOf } from '../../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../../api/dynakube/namespace-claims.ts'
import { needsAppInjection } from '../../../api/dynakube/one-agent-facts.ts'
import { kubeApiMessage, REASONS } from '../condition-types.ts'
import type { Rendered } from '../render.ts'
import { BOOTSTRAPPER_CONDITION } from '../resolve/process-modules.ts'
import { TokenError } from '../resolve/tokens.ts'
import type { StatusDraft } from '../status-draft.ts'
import { namespacesOf } from './namespaces.ts'

const SHOWN = 10

const EXPORTER_CONDITION = 'OTLPExporterConfigSecret'

/** What became of injection. */
export interface Injected extends Pick<Rendered, 'objects' | 'failure'> {
  /** Why the Secrets that are copied could not be written. */
  readonly writeFailure: Error | undefined
  /** What went wrong in namespaces. */
  readonly failures: readonly Error[]
}

/** Tells what became of injection. */
export function reportInjection(
  draft: StatusDraft,
  { objects, failure, writeFailure, failures }: Injected,
  cache: CacheReader,
): void {
  const { dynakube } = draft
  const names = namesOf(dynakube)
  const has = (name: string) => objects.some(({ object }) => object.metadata.name === name)
  const secret = (type: string, source: string, shown = source) => {
    if (!has(source)) draft.remove(type)
    else if (writeFailure) draft.set(type, 'False', REASONS.kubeApiError, kubeApiMessage(writeFailure))
    else draft.set(type, 'True', 'SecretCreatedOrUpdated', `${shown} created/updated`)
  }
  if (failure === undefined) {
    secret(BOOTSTRAPPER_CONDITION, names.bootstrapperConfig)
    secret('BootstrapperCertsConfig', names.bootstrapperCerts)
    secret(EXPORTER_CONDITION, names.otlpExporterConfig, FIXED_NAMES.otlpExporterConfig)
    secret('OTLPExporterCertsConfig', names.otlpExporterCerts, FIXED_NAMES.otlpExporterCerts)
  } else if (failure instanceof TokenError) {
    draft.set(EXPORTER_CONDITION, 'False', 'SecretGenerationFailed', failure.message)
  }
  const [first] = failures
  feature(draft, 'CodeModulesInjection', claimsNamespaces(dynakube) && needsAppInjection(dynakube), first)
  feature(draft, 'MetadataEnrichment', hasMetadataEnrichment(dynakube), undefined)
  feature(draft, 'OTLPExporterConfiguration', hasOtlpExporter(dynakube), first)
  const namespaces = namespacesOf(dynakube.metadata.name ?? '', cache)
  monitored(draft, 'OneAgentNamespacesMonitored', needsAppInjection(dynakube), namespaces)
  monitored(draft, 'MetadataEnrichmentNamespacesMonitored', hasMetadataEnrichment(dynakube), namespaces)
}

function feature(draft: StatusDraft, type: string, isOn: boolean, failure: Error | undefined): void {
  if (!isOn) draft.remove(type)
  else if (failure !== undefined) draft.set(type, 'False', REASONS.kubeApiError, kubeApiMessage(failure))
  else draft.set(type, 'True', 'SecretsCreated', 'Namespaces have what their pods need')
}

function monitored(draft: StatusDraft, type: string, isOn: boolean, namespaces: readonly string[]): void {
  if (!isOn) {
    draft.remove(type)
    return
  }
  const count = namespaces.length
  const names = namespaces.slice(0, SHOWN).join(', ')
  const more = count > SHOWN ? ` (the first ${SHOWN})` : ''
  if (count === 0) draft.set(type, 'False', 'NoMatches', '0 namespaces match')
  else draft.set(type, 'True', 'MatchesFound', `${count} namespaces match: ${names}${more}`)
}
