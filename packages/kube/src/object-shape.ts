/** Sets `apiVersion` and `kind` of every returned object, and reduces it to metadata on request. */
import type { KubeList, KubeObject, Stored } from './objects.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** Requests one object, or watch events, without spec and status. */
export const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

/** Requests a list of objects without spec and status. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

/** Converts an object to the requested shape. */
export type Shape<T extends KubeObject> = <O extends T>(object: O) => O

/**
 * - Full objects pass as they are; only what a server leaves out of list items, `apiVersion` and `kind`, is filled in.
 * - Metadata-only objects carry the resource's own `apiVersion` and `kind` instead of `PartialObjectMetadata`, so that
 *   mappers and owner references work the same way, and lose everything else if the server sent it anyway.
 */
export function shapeOf<T extends KubeObject>(resource: Resource<T>, metadataOnly = false): Shape<T> {
  const typeMeta = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  // Both casts restore what a spread hides: the remaining fields of T are exactly those of `object`.
  if (metadataOnly) return <O extends T>(object: O) => ({ ...typeMeta, metadata: object.metadata }) as O
  return <O extends T>(object: O) => (object.kind === undefined ? ({ ...typeMeta, ...object } as O) : object)
}

/** Shapes every item of a list. */
export function shapeList<T extends KubeObject>(list: KubeList<T>, shape: Shape<T>): KubeList<T> {
  // Servers written in Go may send `null` for an empty list.
  const items: readonly Stored<T>[] = list.items ?? []
  return { ...list, metadata: list.metadata ?? {}, items: items.map((item) => shape<Stored<T>>(item)) }
}
