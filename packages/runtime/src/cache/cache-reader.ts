/** Reads across informers by resource: the view that controllers have of the cluster. */
import type { KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import { apiVersionOf, objectKey } from '@reeve/kube'
import { isNewer, isOrdered, newestOf } from '../resource-version.ts'
import { NotCachedError } from './cache-error.ts'
import type { Informer } from './informer.ts'
import { resourceName } from './informer-options.ts'

/**
 * Synchronous reads of everything that is cached, own writes included. Objects are frozen and shared.
 *
 * *Errors*: {@link NotCachedError} for a resource, or a namespace of it, that no informer covers. An absent object is
 * no error, and an object outside an informer's label or field selector is absent.
 *
 * @example
 * const deployment = cache.get(Deployments, { namespace: 'shop', name: 'web' })
 */
export interface CacheReader {
  /** Whose entries of managedFields objects have; empty: they have none. @default everybody's */
  readonly fieldManager?: string
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Stored<T> | undefined
  /** In no particular order. */
  list<T extends KubeObject>(
    resource: Resource<T>,
    options?: { readonly namespace?: string; readonly labelSelector?: string },
  ): readonly Stored<T>[]
  byIndex<T extends KubeObject>(resource: Resource<T>, index: string, value: string): readonly Stored<T>[]
  /** The objects whose controller has this uid. */
  ownedBy<T extends KubeObject>(resource: Resource<T>, ownerUid: string): readonly Stored<T>[]
  /** Whether an informer would hold an object with these fields: false for one outside all selectors. */
  selects<T extends KubeObject>(resource: Resource<T>, object: KubeObject): boolean
  /**
   * The resourceVersion at which `owner` is known to exist, if objects of the kind `absent` in `namespace` that are not in
   * view were already absent then. Undefined if the view of the owner is older, or does not tell.
   */
  provenAt?(
    of: Resource,
    owner: Stored<KubeObject>,
    absent: Resource,
    namespace: string | undefined,
  ): string | undefined
}

/**
 * A reader over some informers.
 *
 * @param informersOf the informers of a resource that may be read
 * @param fieldManager see {@link CacheReader.fieldManager}
 * @param remedy what to do about a resource that is not cached, for the error
 */
export function readerOf(
  informersOf: <T extends KubeObject>(resource: Resource<T>) => readonly Informer<T>[],
  fieldManager: string,
  remedy: string,
): CacheReader {
  const within = <T extends KubeObject>(of: Resource<T>, namespace?: string): readonly Informer<T>[] =>
    informersOf(of).filter(
      ({ resource, selection }) =>
        resource.version === of.version &&
        (selection.namespace === undefined || namespace === undefined || selection.namespace === namespace),
    )
  const covering = <T extends KubeObject>(of: Resource<T>, namespace?: string): readonly Informer<T>[] => {
    const informers = within(of, namespace)
    if (informers.length > 0) return informers
    const where = namespace === undefined ? '' : ` in namespace ${namespace}`
    throw new NotCachedError(`${resourceName(of)} (${apiVersionOf(of)})${where}`, remedy)
  }
  return {
    fieldManager,
    get(of, key) {
      for (const informer of covering(of, key.namespace)) {
        const object = informer.get(key)
        if (object !== undefined) return object
      }
      return undefined
    },
    list: (of, options = {}) => distinct(covering(of, options.namespace), (informer) => informer.list(options)),
    byIndex: (of, index, value) => distinct(covering(of), (informer) => informer.byIndex(index, value)),
    ownedBy: (of, ownerUid) => distinct(covering(of), (informer) => informer.ownedBy(ownerUid)),
    provenAt(of, owner, absent, namespace) {
      const known = covering(of, owner.metadata.namespace).flatMap((informer) => informer.get(objectKey(owner)) ?? [])
      const { uid, generation, resourceVersion } = owner.metadata
      const isSame = ({ metadata }: Stored<KubeObject>) =>
        metadata.uid === uid && metadata.generation === generation && metadata.deletionTimestamp === undefined
      if (known.length === 0 || !known.every(isSame)) return undefined
      const seen = covering(of, owner.metadata.namespace).map((informer) => informer.seenVersion)
      const removed = within(absent, namespace).map((informer) => informer.removedVersion)
      if (removed.length === 0 || !seen.every(isOrdered) || !removed.every(isOrdered)) return undefined
      const alive = newestOf(seen.reduce(older), resourceVersion) ?? resourceVersion
      return removed.some((version) => isNewer(version, alive)) ? undefined : alive
    },
    selects: (of, object) =>
      informersOf(of).some((informer) => informer.resource.version === of.version && informer.selects(object)),
  }
}

const older = (a: string, b: string): string => (isNewer(a, b) ? b : a)

/** Informers may overlap: each object once, from the first informer that has it. */
function distinct<T extends KubeObject>(
  informers: readonly Informer<T>[],
  read: (informer: Informer<T>) => readonly Stored<T>[],
): readonly Stored<T>[] {
  const [only, ...others] = informers
  if (only === undefined) return []
  if (others.length === 0) return read(only)
  const byUid = new Map<string, Stored<T>>()
  for (const object of informers.flatMap(read)) {
    if (!byUid.has(object.metadata.uid)) byUid.set(object.metadata.uid, object)
  }
  return [...byUid.values()]
}
