/** Gives every object that comes back its `apiVersion` and `kind`, and reduces it to metadata where asked. */
import type { KubeList, KubeObject, Stored } from './objects.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** Asks for one object, or for watch events, without spec and status. */
export const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

/** Asks for a list of objects without spec and status. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'

/** Makes an object what the caller asked for. */
export type Shape<T extends KubeObject> = <O extends T>(object: O) => O

/**
 * - Full objects pass as they are; only what a server leaves out of list items, `apiVersion` and `kind`, is filled in.
 * - Metadata-only objects carry the resource's own `apiVersion` and `kind` instead of `PartialObjectMetadata`, so that
 *   mappers and owner references work the same way, and lose everything else if the server sent it anyway.
 */
export function shapeOf<T extends KubeObject>(resource: Resource<T>, metadataOnly = false): Shape<T> {
  const typeMeta = { apiVersion: apiVersionOf(resource), kind: resource.kind }
  // Both casts restore what a spread hides: the fields of T that are left are exactly those of `object`.
  if (metadataOnly) return <O extends T>(object: O) => ({ ...typeMeta, metadata: object.metadata }) as O
  return <O extends T>(object: O) => (object.kind === undefined ? ({ ...typeMeta, ...object } as O) : object)
}

/** Shapes every item of a list. */
export function shapeList<T extends KubeObject>(list: KubeList<T>, shape: Shape<T>): KubeList<T> {
  // Servers written in Go send `null` for an empty list in places.
  const items: readonly Stored<T>[] = list.items ?? []
  return { ...list, metadata: list.metadata ?? {}, items: items.map((item) => shape<Stored<T>>(item)) }
}
