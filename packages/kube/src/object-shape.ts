/** Sets `apiVersion` and `kind` of every returned object, and reduces it to metadata on request. */

import { isRecord } from '@reeve/http'
import { BadResponseError } from './errors.ts'
import type { KubeList, KubeObject, Stored } from './objects.ts'
import type { RequestTarget } from './request-target.ts'
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

/** Shapes every item of a list. Throws `BadResponseError` when it is not a list of Kubernetes objects. */
export function shapeList<T extends KubeObject>(target: RequestTarget, list: unknown, shape: Shape<T>): KubeList<T> {
  if (!isRecord(list)) throw new BadResponseError(target, 'the response is not a list')
  // Servers written in Go may send `null` for an empty list.
  const items = list.items ?? []
  if (!Array.isArray(items)) throw new BadResponseError(target, 'the items of the response are not a list')
  // The caller guarantees the type; what every object has was just checked.
  const shaped = items.map((item) => shape(requireObject<Stored<T>>(target, item)))
  return { ...list, metadata: isRecord(list.metadata) ? list.metadata : {}, items: shaped } as unknown as KubeList<T>
}

/**
 * The value, if it is an object with metadata, as every Kubernetes object is.
 *
 * *Errors*: `BadResponseError` when it is not: something other than an API server responded.
 */
export function requireObject<O extends KubeObject>(target: RequestTarget, value: unknown): O {
  if (isRecord(value) && isRecord(value.metadata)) return value as unknown as O
  throw new BadResponseError(target, 'the response contains something that is not a Kubernetes object')
}
