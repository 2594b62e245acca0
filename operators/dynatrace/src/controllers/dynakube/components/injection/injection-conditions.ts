/** Conditions about injection, and the namespaces that it covers. */
import type { CacheReader } from '@reeve/runtime'
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { labelMatcher } from '../../../../api/dynakube/namespace-claims.ts'
import { injectionNamespaceSelector, needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import type { IgnoredNamespacePatterns } from '../../../../api/ignored-namespaces.ts'
import { kubeApiMessage, REASONS } from '../../conditions/reasons.ts'
import type { DynaKubeReporter } from '../../dynakube-component.ts'
import { namespacesOf } from './namespace-objects.ts'

const SHOWN = 10

const TYPES = {
  codeModules: 'CodeModulesInjection',
  enrichment: 'MetadataEnrichment',
  exporters: 'OTLPExporterConfiguration',
  injectedNamespaces: 'OneAgentNamespacesMonitored',
  enrichedNamespaces: 'MetadataEnrichmentNamespacesMonitored',
  ignoredNamespaces: 'IgnoredNamespaces',
} as const

/** The types of these conditions. */
export const INJECTION_CONDITIONS: readonly string[] = Object.values(TYPES)

/** What became of the namespaces. */
export interface InjectionOutcome {
  /** The first error there. */
  readonly failure?: Error
  /** Whether it is known what pods are injected with. */
  readonly isInjectionKnown: boolean
  /** Whether it is known what exporters are configured with. */
  readonly areExportersKnown: boolean
}

/** What the conditions are derived from. */
export interface NamespaceFacts {
  readonly cache: Pick<CacheReader, 'list'>
  readonly patterns: IgnoredNamespacePatterns
}

/** Reports the state of injection in namespaces. While a part waits or fails, its conditions stay as they are. */
export function reportInjection(
  reporter: DynaKubeReporter,
  { failure, isInjectionKnown: isKnown, areExportersKnown }: InjectionOutcome,
  { cache, patterns }: NamespaceFacts,
): void {
  const { primary: dynakube } = reporter
  const report = (type: string, isEnabled: boolean, set: ((type: string) => void) | false) => {
    if (!isEnabled) reporter.removeConditions(type)
    else if (set) set(type)
  }
  const filled = (type: string) => reportFilled(reporter, type, failure)
  report(TYPES.codeModules, needsAppInjection(dynakube), isKnown && filled)
  report(TYPES.enrichment, hasMetadataEnrichment(dynakube), isKnown && ((type) => reportFilled(reporter, type)))
  report(TYPES.exporters, hasOtlpExporter(dynakube), isKnown && areExportersKnown && filled)
  const namespaces = namespacesOf(dynakube.metadata.name, cache)
  const selectedBy = (selector: object | undefined) => (type: string) => {
    const matches = labelMatcher(selector)
    const names = namespaces.filter(({ labels }) => matches(labels)).map(({ name }) => name)
    reportSelected(reporter, type, names)
  }
  const { namespaceSelector } = dynakube.spec.metadataEnrichment ?? {}
  const injected = isKnown && selectedBy(injectionNamespaceSelector(dynakube))
  report(TYPES.injectedNamespaces, needsAppInjection(dynakube), injected)
  const enriched = isKnown && selectedBy(namespaceSelector)
  report(TYPES.enrichedNamespaces, hasMetadataEnrichment(dynakube), enriched)
  reportIgnored(reporter, patterns)
}

/** Admission rejects patterns beyond the limits; those that were stored before are reported here. */
function reportIgnored(reporter: DynaKubeReporter, patterns: IgnoredNamespacePatterns): void {
  const { excess } = patterns.of(reporter.primary)
  const type = TYPES.ignoredNamespaces
  const message = `${excess}; what exceeds them is ignored`
  if (excess === undefined) reporter.removeConditions(type)
  else reporter.setCondition({ type, status: 'False', reason: 'LimitExceeded', message })
}

function reportFilled(reporter: DynaKubeReporter, type: string, failure?: Error): void {
  reporter.setCondition(
    failure === undefined
      ? { type, status: 'True', reason: 'SecretsCreated', message: 'Namespaces have what their pods need' }
      : { type, status: 'False', reason: REASONS.kubeApiError, message: kubeApiMessage(failure) },
  )
}

function reportSelected(reporter: DynaKubeReporter, type: string, namespaces: readonly string[]): void {
  const count = namespaces.length
  const names = namespaces.slice(0, SHOWN).join(', ')
  const more = count > SHOWN ? ` (the first ${SHOWN})` : ''
  reporter.setCondition(
    count === 0
      ? { type, status: 'False', reason: 'NoMatches', message: '0 namespaces match' }
      : { type, status: 'True', reason: 'MatchesFound', message: `${count} namespaces match: ${names}${more}` },
  )
}
