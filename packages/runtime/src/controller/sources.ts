/** Sources of a controller: which resources it watches, and which objects a change reconciles. */
import type { KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { InformerOptions } from '../cache/informer-options.ts'
import type { Predicate } from './predicates.ts'

/** A resource to watch, with what of it, and which changes count. */
export interface Source<T extends KubeObject> extends InformerOptions<T> {
  readonly resource: Resource<T>
  /** @default every change */
  readonly predicate?: Predicate<T>
}

/** Returns the keys of the objects to reconcile after a change of `object`. Must be quick; may read the cache. */
export type Mapper<T extends KubeObject> = (object: Stored<T>, cache: CacheReader) => readonly ObjectKey[]

/** A source whose objects say themselves, through `map`, what they concern. */
export interface MappedSource<T extends KubeObject> extends Source<T> {
  /** Called with both states of a modified object, so that the objects that it no longer refers to are reconciled, too. */
  readonly map: Mapper<T>
}

/**
 * A kind to watch, with the resources that a change concerns.
 *
 * @example
 * watches: [watch({ resource: Secrets, namespace: 'shop', map: (secret, cache) => usersOf(secret, cache) })]
 */
export function watch<T extends KubeObject>(source: MappedSource<T>): MappedSource<KubeObject> {
  return source as unknown as MappedSource<KubeObject> // it is called only with objects of its own resource
}

/**
 * Maps an object to its controller, if that is of the resource `owner`.
 *
 * @example
 * watches: [watch({ resource: Pods, map: toController(ReplicaSets) })]
 */
export function toController(owner: Resource): Mapper<KubeObject> {
  return ({ metadata }) => {
    const reference = metadata.ownerReferences?.find(({ controller }) => controller === true)
    if (reference === undefined || reference.kind !== owner.kind) return []
    // The version depends on the writer of the reference; the group distinguishes kinds of the same name.
    const slash = reference.apiVersion.indexOf('/')
    const group = slash === -1 ? '' : reference.apiVersion.slice(0, slash)
    if (group !== owner.group) return []
    const { namespace } = metadata
    return owner.namespaced && namespace !== undefined
      ? [{ namespace, name: reference.name }]
      : [{ name: reference.name }]
  }
}

/** The object itself. */
export const toItself: Mapper<KubeObject> = ({ metadata: { namespace, name } }) => [
  namespace === undefined ? { name } : { namespace, name },
]

/** Accepts a bare resource where a {@link Source} is meant. */
export function asSource<T extends KubeObject>(source: Resource<T> | Source<T>): Source<T> {
  return 'resource' in source ? source : { resource: source }
}
