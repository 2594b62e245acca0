/** Finds what is no longer desired. Pure. */
import type { KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { type DesiredObject, identityOf } from './desired-object.ts'
import { keyOf, type OwnedElsewhere } from './ownership.ts'

/** An object that is no longer desired. */
export interface Leftover {
  readonly resource: Resource
  readonly live: Stored<KubeObject>
  /** A merge patch that removes the operator's fields instead of deleting the object. */
  readonly release?: Readonly<Record<string, unknown>>
}

/** The input of {@link findLeftovers}. */
export interface LeftoverInput {
  readonly owner: Stored<KubeObject>
  readonly desired: readonly DesiredObject[]
  /** An object of these kinds that the owner controls and does not desire is deleted. */
  readonly kinds: readonly Resource[]
  /** What may be desired outside the namespace of the owner; pruned in this order. */
  readonly elsewhere: readonly OwnedElsewhere[]
  readonly view: CacheReader
}

/** What the owner controls and does not desire. Pure. */
export function findLeftovers({ owner, desired, kinds, elsewhere, view }: LeftoverInput): readonly Leftover[] {
  const wanted = new Set(desired.map(({ resource, object }) => identityOf(resource, object)))
  const owned = kinds.flatMap((resource) =>
    view
      .ownedBy(resource, owner.metadata.uid)
      .filter((live) => live.metadata.deletionTimestamp === undefined && !wanted.has(identityOf(resource, live)))
      .map((live) => ({ resource, live })),
  )
  const prunable = elsewhere.map((kind) => ({
    ...kind,
    includes: (live: Stored<KubeObject>) => (kind.includes?.(live) ?? true) && (kind.isPrunable?.(live, view) ?? true),
  }))
  return [...owned, ...findElsewhere(keyOf(owner), prunable, view, wanted)]
}

/**
 * What a resource has in other namespaces; also for a deleted resource. Pure.
 *
 * @param wanted identities of objects that stay
 */
export function findElsewhere(
  owner: ObjectKey,
  elsewhere: readonly OwnedElsewhere[],
  view: CacheReader,
  wanted: ReadonlySet<string> = new Set(),
): readonly Leftover[] {
  return elsewhere.flatMap(({ resource, label, labelValue, includes = () => true, release }) =>
    view
      .list(resource, { labelSelector: `${label}=${labelValue(owner)}` })
      .filter((live) => live.metadata.deletionTimestamp === undefined && !wanted.has(identityOf(resource, live)))
      // In the owner's own namespace owner references count.
      .filter(
        (live) => (owner.namespace === undefined || live.metadata.namespace !== owner.namespace) && includes(live),
      )
      .map((live) => ({ resource, live, ...(release && { release: release(live) }) })),
  )
}
