/** Conditions about what pods are injected with, and in how many namespaces. */
import type { CacheReader } from '@reeve/runtime'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../api/dynakube/feature-facts.ts'
import { FIXED_NAMES, namesOf } from '../../../api/dynakube/names.ts'
import { claimsNamespaces } from '../../../api/dynakube/namespace-claims.ts'
import { needsAppInjection } from '../../../api/dynakube/one-agent-facts.ts'
import { kubeApiMessage, REASONS } from '../condition-types.ts'
import type { Rendered } from '../render.ts'
import { BOOTSTRAPPER_CONDITION } from '../resolve/process-modules.ts'
import type { StatusDraft } from '../status-draft.ts'
import { namespacesOf } from './namespaces.ts'

const SHOWN = 10

/** Tells what became of injection. */
export function reportInjection(
  draft: StatusDraft,
  { objects, failure }: Pick<Rendered, 'objects' | 'failure'>,
  failures: readonly Error[],
  cache: CacheReader,
): void {
  const { dynakube } = draft
  const names = namesOf(dynakube)
  const has = (name: string) => objects.some(({ object }) => object.metadata.name === name)
  if (failure === undefined) {
    secret(draft, BOOTSTRAPPER_CONDITION, has(names.bootstrapperConfig), names.bootstrapperConfig)
    secret(draft, 'BootstrapperCertsConfig', has(names.bootstrapperCerts), names.bootstrapperCerts)
    secret(draft, 'OTLPExporterConfigSecret', has(names.otlpExporterConfig), FIXED_NAMES.otlpExporterConfig)
    secret(draft, 'OTLPExporterCertsConfig', has(names.otlpExporterCerts), FIXED_NAMES.otlpExporterCerts)
  }
  const [first] = failures
  feature(draft, 'CodeModulesInjection', claimsNamespaces(dynakube) && needsAppInjection(dynakube), first)
  feature(draft, 'MetadataEnrichment', hasMetadataEnrichment(dynakube), undefined)
  feature(draft, 'OTLPExporterConfiguration', hasOtlpExporter(dynakube), first)
  const namespaces = namespacesOf(dynakube.metadata.name ?? '', cache)
  monitored(draft, 'OneAgentNamespacesMonitored', needsAppInjection(dynakube), namespaces)
  monitored(draft, 'MetadataEnrichmentNamespacesMonitored', hasMetadataEnrichment(dynakube), namespaces)
}

function secret(draft: StatusDraft, type: string, isThere: boolean, name: string): void {
  if (isThere) draft.set(type, 'True', 'SecretCreatedOrUpdated', `${name} created/updated`)
  else draft.remove(type)
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
