/** Which namespaces a DynaKube is responsible for. */
import { type LabelSelector, matchesLabels } from '@reeve/kube'
import { selectorProblems } from '../core/label-selector-problems.ts'
import type { IgnoredNamespacePatterns } from '../ignored-namespaces.ts'
import type { DynaKube } from '../latest.ts'
import { hasMetadataEnrichment, hasOtlpExporter } from './feature-facts.ts'
import { injectionNamespaceSelector, needsAppInjection } from './one-agent-facts.ts'

/** The part of a namespace that selectors use. */
export interface NamespaceLabels {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/** Whether a DynaKube injects or enriches, which only one may do in a namespace. */
export const claimsNamespaces = (dynakube: DynaKube): boolean =>
  needsAppInjection(dynakube) || hasMetadataEnrichment(dynakube)

/** Whether pods get anything from a DynaKube. */
export const changesPods = (dynakube: DynaKube): boolean => claimsNamespaces(dynakube) || hasOtlpExporter(dynakube)

/** Whether labels match a selector: all do without one, none do if it cannot be evaluated. */
export function labelMatcher(selector: object = {}): (labels: Readonly<Record<string, string>>) => boolean {
  if (selectorProblems(selector, '').length > 0) return () => false
  // What is readable has known operators only.
  return (labels) => matchesLabels(selector as LabelSelector, labels)
}

/** What a DynaKube says about namespaces, prepared for many of them. */
export interface NamespaceClaim {
  readonly owner: DynaKube
  /** Whether it injects or enriches, which only one may do. */
  readonly isOwner: boolean
  /** `undefined` when a selector cannot be evaluated. */
  readonly selects: (namespace: NamespaceLabels) => boolean | undefined
}

/** What a DynaKube says about namespaces. */
export function claimOf(owner: DynaKube, patterns: IgnoredNamespacePatterns): NamespaceClaim {
  const { metadataEnrichment, otlpExporterConfiguration } = owner.spec
  const selectors = [
    ...(needsAppInjection(owner) ? [injectionNamespaceSelector(owner)] : []),
    ...(hasMetadataEnrichment(owner) ? [metadataEnrichment?.namespaceSelector] : []),
    ...(hasOtlpExporter(owner) ? [otlpExporterConfiguration?.namespaceSelector] : []),
  ].map((selector = {}) => ({ selector, isReadable: selectorProblems(selector, '').length === 0 }))
  let isIgnored: ((name: string) => boolean) | undefined
  const selects = ({ name, labels }: NamespaceLabels) => {
    // Labels are compared much faster than patterns, and rarely match.
    const first = selectors.find(
      // What is readable has known operators only.
      ({ selector, isReadable }) => !isReadable || matchesLabels(selector as LabelSelector, labels),
    )
    if (first === undefined) return false
    isIgnored ??= patterns.of(owner).includes
    if (isIgnored(name)) return false
    return first.isReadable || undefined
  }
  return { owner, isOwner: claimsNamespaces(owner), selects }
}
