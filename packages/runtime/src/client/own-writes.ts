/** Lays own writes over a cache, so that they are visible as soon as they return. */
import type {
  DeleteOptions,
  KubeClient,
  KubeObject,
  ObjectKey,
  ObjectMeta,
  Resource,
  Status,
  Stored,
} from '@reeve/kube'
import type { Informer } from '../cache/informer.ts'
import { type Interceptor, interceptClient } from './intercept.ts'

/** A cache, as far as own writes concern it. */
export interface OverlaidCache {
  /** The informers that may hold objects of a resource, in any version. */
  informersOf<T extends KubeObject>(resource: Resource<T>): readonly Informer<T>[]
}

/**
 * Wraps `client` so that the response of every create, update, patch, apply and delete, also of `status`, is laid over
 * the informers it belongs to, until their watch has caught up.
 *
 * *Guarantees*: once a call returned, no read of those informers shows an older state of that object.
 *
 * *Caveats*: `deleteCollection`, `raw` and subresources that return another kind (`scale`, `eviction`) say
 * nothing about the object and are not tracked; nor are dry runs. A deletion without preconditions hides the
 * incarnation that was deleted, but cannot hide a later one that the cache has not seen yet. Objects in responses
 * are frozen where they went into a cache.
 *
 * @example
 * const tracked = trackWrites(client, cache)
 * await tracked.create(Deployments, deployment)
 * cache.get(Deployments, objectKey(deployment)) // found, although no watch event has arrived yet
 */
export function trackWrites(client: KubeClient, cache: OverlaidCache): KubeClient {
  return interceptClient(client, [ownWrites(cache)])
}

/** The interceptor of {@link trackWrites}. */
export function ownWrites(cache: OverlaidCache): Interceptor {
  return {
    async around({ verb, resource, key, isWrite, isDryRun }, options, send) {
      if (!isWrite || isDryRun || resource === undefined || verb === 'deletecollection') return send(options)
      const informers = cache.informersOf(resource)
      if (verb === 'delete') return deleteTracked(informers, resource, key as ObjectKey, options, () => send(options))
      const written = await send(options)
      // Every other write returns the object.
      recordAnswer(informers, resource, written as Stored<KubeObject>)
      return written
    },
  }
}

async function deleteTracked<R>(
  informers: readonly Informer<KubeObject>[],
  of: Resource<KubeObject>,
  key: ObjectKey,
  options: DeleteOptions,
  send: () => Promise<R>,
): Promise<R> {
  const started = informers.map((informer) => ({ informer, start: informer.beginDeletion(key) }))
  const result = await send()
  // A deletion returns a Status or the object.
  const answer = result as Status | Stored<KubeObject>
  if (isStillThere(answer)) recordAnswer(informers, of, answer)
  else {
    for (const { informer, start } of started) informer.recordDeletion(key, start, answer, options.preconditions)
  }
  return result
}

function recordAnswer<T extends KubeObject>(
  informers: readonly Informer<T>[],
  of: Resource<T>,
  written: Stored<T>,
): void {
  // A subresource such as `scale` returns its own kind.
  if (written.kind !== of.kind) return
  for (const informer of informers) {
    if (isGone(written)) {
      // Started "before everything": the cache may already contain the next incarnation.
      informer.recordDeletion(written.metadata, { sequence: 0, watchedUid: undefined }, written)
    } else if (informer.resource.version === of.version) {
      informer.recordWrite(written)
    }
  }
}

/** A deletion returns a Status or the last state when the object is deleted; an object that waits is marked. */
function isStillThere<T extends KubeObject>(answer: Status | Stored<T>): answer is Stored<T> {
  if (answer.kind === 'Status') return false
  const { metadata } = answer as Stored<T> // every kind but Status is the object itself
  return metadata.deletionTimestamp !== undefined && isHeld(metadata)
}

/** Being deleted without a finalizer: a write that removes the last finalizer deletes the object. */
function isGone({ metadata }: Stored<KubeObject>): boolean {
  return metadata.deletionTimestamp !== undefined && !isHeld(metadata)
}

function isHeld(metadata: ObjectMeta): boolean {
  return (metadata.finalizers?.length ?? 0) > 0 || (metadata.deletionGracePeriodSeconds ?? 0) > 0
}
