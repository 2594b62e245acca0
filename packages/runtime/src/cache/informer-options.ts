/** Options and names of informers. */
import type { KubeObject, Resource, Selection } from '@reeve/kube'
import { apiVersionOf } from '@reeve/kube'
import type { Indexer } from './object-store.ts'

/**
 * Reduces an object before it is cached. Must be pure, return the same identity (namespace, name, uid, resourceVersion)
 * and never mutate its argument. The operator's own entries of `managedFields` are kept, and no others, whatever it returns.
 */
export type Transform = <T extends KubeObject>(object: T) => T

/** What an informer caches. Requests with equal options share one informer. */
export interface InformerOptions<T extends KubeObject = KubeObject> extends Selection {
  /**
   * Reduces objects before they are cached. Informers are shared only if this is the same function.
   * @default objects are cached as a whole
   */
  readonly transform?: Transform
  /** Cache only `metadata`; spec and status are not even sent. @default false */
  readonly metadataOnly?: boolean
  /**
   * The server may not serve the kind, such as one whose CRD is installed later: it counts as empty then, and is asked for
   * again until it is served. Otherwise a missing kind is a failure, and the informer never syncs. @default false
   */
  readonly mayBeMissing?: boolean
  /** Further indexes, by name, for {@link Informer.byIndex}. Added to a shared informer that lacks them. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
}

/** `deployments.apps`: how a resource is called in metrics, health and errors. Bounded, so usable as a metric label. */
export function resourceName(of: Pick<Resource, 'group' | 'plural'>): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`
}

/** The resource with its selection, for messages: `secrets in default with labels app=web`. */
export function describeSelection(of: Resource, selection: Selection): string {
  const { namespace, labelSelector, fieldSelector } = selection
  let text = resourceName(of)
  if (namespace !== undefined) text += ` in ${namespace}`
  if (labelSelector !== undefined) text += ` with labels ${labelSelector}`
  if (fieldSelector !== undefined) text += ` with fields ${fieldSelector}`
  return text
}

/** Equal for informers that can be shared, if they have the same transform. */
export function informerId(
  of: Resource,
  options: Selection & { readonly metadataOnly?: boolean; readonly mayBeMissing?: boolean },
): string {
  const { namespace = '', labelSelector = '', fieldSelector = '', metadataOnly = false, mayBeMissing = false } = options
  return JSON.stringify([
    apiVersionOf(of),
    of.plural,
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly,
    mayBeMissing,
  ])
}
