/** Conditions about what pods are injected with, and in how many namespaces. */
import type { CacheReader } from '@reeve/runtime'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { labelMatcher } from '../../../../api/dynakube/namespace-claims.ts'
import { injectionNamespaceSelector, needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import type { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import type { Component } from '../../component.ts'
import { CONDITIONS, kubeApiMessage, REASONS } from '../../condition-types.ts'
import type { StatusDraft } from '../../status-draft.ts'
import { namespacesOf } from './namespace-objects.ts'
import { injection } from './source-secrets.ts'

const SHOWN = 10

/** What became of namespaces. */
export interface InjectionOutcome {
  /** What went wrong there. */
  readonly failures: readonly Error[]
  /** Parts of which it is not known what pods get. */
  readonly unknown: readonly Component[]
}

/** Tells what became of injection in namespaces. What waits keeps what it says. */
export function reportInjection(draft: StatusDraft, { failures, unknown }: InjectionOutcome, cache: CacheReader): void {
  const { dynakube } = draft
  const isKnown = !unknown.includes(injection)
  const report = (type: string, isOn: boolean, tell: ((type: string) => void) | false) => {
    if (!isOn) draft.remove(type)
    else if (tell) tell(type)
  }
  const [failure] = failures
  const filled = (type: string) => reportFilled(draft, type, failure)
  report('CodeModulesInjection', needsAppInjection(dynakube), isKnown && filled)
  report('MetadataEnrichment', hasMetadataEnrichment(dynakube), isKnown && ((type) => reportFilled(draft, type)))
  report('OTLPExporterConfiguration', hasOtlpExporter(dynakube), unknown.length === 0 && filled)
  const namespaces = namespacesOf(dynakube.metadata.name ?? '', cache)
  const selectedBy = (selector: object | undefined) => (type: string) => {
    const matches = labelMatcher(selector)
    const names = namespaces.filter(({ labels }) => matches(labels)).map(({ name }) => name)
    reportSelected(draft, type, names)
  }
  const { namespaceSelector } = dynakube.spec.metadataEnrichment ?? {}
  const injected = isKnown && selectedBy(injectionNamespaceSelector(dynakube))
  report('OneAgentNamespacesMonitored', needsAppInjection(dynakube), injected)
  const enriched = isKnown && selectedBy(namespaceSelector)
  report('MetadataEnrichmentNamespacesMonitored', hasMetadataEnrichment(dynakube), enriched)
}

/** Admission refuses patterns beyond the limits; those that were stored before it did are told here. */
export function reportIgnoredNamespaces(draft: StatusDraft, patterns: IgnoredNamespacePatterns): void {
  const { excess } = patterns.of(draft.dynakube)
  if (excess === undefined) draft.remove(CONDITIONS.ignoredNamespaces)
  else
    draft.set(CONDITIONS.ignoredNamespaces, 'False', REASONS.limitExceeded, `${excess}; what exceeds them is ignored`)
}

function reportFilled(draft: StatusDraft, type: string, failure?: Error): void {
  if (failure !== undefined) draft.set(type, 'False', REASONS.kubeApiError, kubeApiMessage(failure))
  else draft.set(type, 'True', 'SecretsCreated', 'Namespaces have what their pods need')
}

function reportSelected(draft: StatusDraft, type: string, namespaces: readonly string[]): void {
  const count = namespaces.length
  const names = namespaces.slice(0, SHOWN).join(', ')
  const more = count > SHOWN ? ` (the first ${SHOWN})` : ''
  if (count === 0) draft.set(type, 'False', 'NoMatches', '0 namespaces match')
  else draft.set(type, 'True', 'MatchesFound', `${count} namespaces match: ${names}${more}`)
}
