/** Transforms of objects before they are cached: reduced, then frozen, then shared by all readers. */
import { apiVersionOf, type KubeObject, type Resource, type Stored } from '@reeve/kube'

/**
 * Changes an object before it is cached. Must be pure, return the same identity (namespace, name, uid,
 * resourceVersion) and never mutate its argument.
 */
export type Transform = <T extends KubeObject>(object: T) => T

/**
 * Drops `metadata.managedFields`: often half of an object, and few read it. The default of every informer.
 *
 * @example
 * cache.informer(Pods, { transform: stripManagedFields })
 */
export const stripManagedFields: Transform = (object) => {
  const { managedFields, ...metadata } = object.metadata
  return managedFields === undefined ? object : { ...object, metadata }
}

/**
 * Keeps objects as the server sent them.
 *
 * @example
 * cache.informer(Widgets, { transform: keepEverything })
 */
export const keepEverything: Transform = (object) => object

/**
 * Only `apiVersion`, `kind` and `metadata`, with the resource's own kind in place of `PartialObjectMetadata`: what
 * is read from a metadata-only cache looks like the object it describes.
 */
export function metadataOf<T extends KubeObject>(of: Resource<T>, object: Stored<T>): Stored<T> {
  const partial = { apiVersion: apiVersionOf(of), kind: of.kind, metadata: object.metadata }
  return partial as unknown as Stored<T> // a reader of metadata only knows that spec and status are absent
}
