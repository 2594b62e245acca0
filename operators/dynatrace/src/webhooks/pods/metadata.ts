/** Metadata of namespaces and pods that telemetry carries. Pure. */
import { ownValue } from '@reeve/http'
import { type EnrichmentRule, enrichmentAnnotation, enrichmentAttribute } from '../../api/dynakube/feature-facts.ts'
import { METADATA, metadataAnnotation } from './annotations.ts'
import type { Attributes } from './attributes.ts'
import type { InjectablePod, InjectionInput, PodNamespace, Workload } from './injection-input.ts'
import { withAnnotations } from './pod-edits.ts'
import { isQualifiedName } from './qualified-name.ts'

const PREFIX = `${METADATA}/`

/** A pod with its metadata as annotations, and the same as attributes. */
export interface PropagatedMetadata {
  readonly pod: InjectablePod
  readonly attributes: Attributes
}

/**
 * Copies metadata onto a pod. Annotations of the pod win over rules of the tenant, and these over annotations of the
 * namespace. Labels of the namespace count only where a rule names them.
 */
export function propagateMetadata(pod: InjectablePod, { namespace, dynakube }: InjectionInput): PropagatedMetadata {
  const own = pod.metadata.annotations ?? {}
  const added: Record<string, string> = {}
  const attributes = new Map<string, string>()
  for (const rule of dynakube.status?.metadataEnrichment?.rules ?? []) {
    const value = sourceOf(rule, namespace)
    if (value === undefined) continue
    const annotation = enrichmentAnnotation(rule)
    if (annotation === '') attributes.set(enrichmentAttribute(rule), value)
    else if (own[annotation] === undefined && added[annotation] === undefined) {
      attributes.set(enrichmentAttribute(rule), value)
      // A target that cannot be an annotation must not make the API server reject the pod.
      if (isQualifiedName(annotation)) added[annotation] = value
    }
  }
  for (const [key, value] of Object.entries(namespace.annotations)) {
    if (key.startsWith(PREFIX) && own[key] === undefined && added[key] === undefined) added[key] = value
  }
  for (const [key, value] of Object.entries({ ...added, ...own })) {
    if (key.startsWith(PREFIX)) attributes.set(key.slice(PREFIX.length), value)
  }
  if (own[METADATA] === undefined) added[METADATA] = toSortedJson(attributes)
  return { pod: withAnnotations(pod, added), attributes }
}

/** The value that a rule copies; `undefined` if the namespace has none, or if the type of the rule is unknown. */
function sourceOf({ type, source = '' }: EnrichmentRule, { labels, annotations }: PodNamespace): string | undefined {
  if (type === 'LABEL') return ownValue(labels, source)
  return type === 'ANNOTATION' ? ownValue(annotations, source) : undefined
}

/** The workload as annotations. */
export const withWorkload = (pod: InjectablePod, { kind, name }: Workload): InjectablePod =>
  withAnnotations(pod, {
    [metadataAnnotation('k8s.workload.kind')]: kind,
    [metadataAnnotation('k8s.workload.name')]: name,
  })

/** Sorted, and without characters that HTML would take for markup: readers of other releases compare the text. */
function toSortedJson(attributes: Attributes): string {
  const members = [...attributes.entries()]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`)
  const unicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `{${members.join(',')}}`.replaceAll(/[<>&\u2028\u2029]/g, unicode)
}
