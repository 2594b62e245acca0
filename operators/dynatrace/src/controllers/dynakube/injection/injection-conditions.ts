/** Conditions about what pods are injected with, and in how many namespaces. */
import type { CacheReader } from '@reeve/runtime'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../api/dynakube/feature-facts.ts'
import { labelMatcher } from '../../../api/dynakube/namespace-claims.ts'
import { injectionNamespaceSelector, needsAppInjection } from '../../../api/dynakube/one-agent-facts.ts'
import { kubeApiMessage, REASONS } from '../condition-types.ts'
import type { StatusDraft } from '../status-draft.ts'
import { namespacesOf } from './namespaces.ts'

const SHOWN = 10

/**
 * Tells what became of injection in namespaces.
 *
 * @param failures what went wrong there
 */
export function reportInjection(draft: StatusDraft, failures: readonly Error[], cache: CacheReader): void {
  const { dynakube } = draft
  const [first] = failures
  feature(draft, 'CodeModulesInjection', needsAppInjection(dynakube), first)
  feature(draft, 'MetadataEnrichment', hasMetadataEnrichment(dynakube), undefined)
  feature(draft, 'OTLPExporterConfiguration', hasOtlpExporter(dynakube), first)
  const namespaces = namespacesOf(dynakube.metadata.name ?? '', cache)
  const selected = (selector: object | undefined) => {
    const matches = labelMatcher(selector)
    return namespaces.filter(({ labels }) => matches(labels)).map(({ name }) => name)
  }
  const { namespaceSelector } = dynakube.spec.metadataEnrichment ?? {}
  const injected = selected(injectionNamespaceSelector(dynakube))
  monitored(draft, 'OneAgentNamespacesMonitored', needsAppInjection(dynakube), injected)
  monitored(
    draft,
    'MetadataEnrichmentNamespacesMonitored',
    hasMetadataEnrichment(dynakube),
    selected(namespaceSelector),
  )
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
