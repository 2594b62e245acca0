/** Imports objects from another cluster unchanged. */

import { resourceNotFound } from '../api/api-errors.ts'
import { metadataOf, nameOf, namespaceOf } from '../api/object-meta.ts'
import { cloneJson, type JsonObject, objectAt, stringAt } from '../json.ts'
import { storageApiVersion, storageKey } from '../registry/resource-info.ts'
import { objectKey } from '../store/stored-object.ts'
import { type RestContext, toVersion } from './context.ts'

/**
 * Stores an object from another cluster, replacing any existing one: its uid, times, managedFields and status are kept,
 * only its resourceVersion is new. Nothing is defaulted, validated or admitted, because the other server did that.
 *
 * *Errors*: a `StatusError` 404 for a kind that is not served.
 */
export async function adoptObject(context: RestContext, given: JsonObject): Promise<void> {
  const [version = '', group = ''] = (stringAt(given, 'apiVersion') ?? '').split('/').reverse()
  const info = context.registry.byKind(group, version, stringAt(given, 'kind') ?? '')
  if (info === undefined) throw resourceNotFound()
  // What another cluster has stored cannot change any more. Sharing it also shares what is compiled from its schema.
  const own = Object.isFrozen(given) ? { ...given, metadata: { ...objectAt(given, 'metadata') } } : cloneJson(given)
  const object = await toVersion(context, own, storageApiVersion(info), new AbortController().signal)
  const collection = storageKey(info)
  const key = objectKey(info.namespaced ? namespaceOf(object) : undefined, nameOf(object))
  delete metadataOf(object).resourceVersion
  context.store.commit({ collection, key, expected: context.store.get(collection, key)?.revision ?? 0, object })
  if (collection === 'services') context.serviceAddresses.adopt(object)
}
