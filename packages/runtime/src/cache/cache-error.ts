/** Errors of the cache. */
import { RuntimeError } from '../runtime-error.ts'

/** A cache has an invalid option. Thrown when it is created. */
export class CacheConfigError extends RuntimeError {
  override readonly name = 'CacheConfigError'

  constructor(option: string, value: unknown, expected: string) {
    super('CACHE_CONFIG', `${option} of the cache is ${String(value)}: it must be ${expected}`)
  }
}

/** A watch was silent for too long and was closed. */
export class WatchSilentError extends RuntimeError {
  override readonly name = 'WatchSilentError'

  constructor(what: string, silenceMs: number) {
    super('WATCH_SILENT', `the watch of ${what} was silent for ${silenceMs} ms: connecting again`)
  }
}

/** A list took longer than its deadline. */
export class ListTimeoutError extends RuntimeError {
  override readonly name = 'ListTimeoutError'

  constructor(what: string, timeoutMs: number) {
    super('LIST_TIMEOUT', `listing ${what} took longer than ${timeoutMs} ms: trying again`)
  }
}

/** A list is older than what is already known: it came from a server that lags behind. */
export class StaleListError extends RuntimeError {
  override readonly name = 'StaleListError'

  constructor(what: string, listed: string, known: string) {
    super('STALE_LIST', `the list of ${what} is at resourceVersion ${listed}, but ${known} is known: trying again`)
  }
}

/** A list came without a resourceVersion, so no watch can follow it. */
export class UnversionedListError extends RuntimeError {
  override readonly name = 'UnversionedListError'

  constructor(what: string) {
    super('UNVERSIONED_LIST', `the list of ${what} carries no resourceVersion: it cannot be watched`)
  }
}

/** This server does not stream the initial state. Handled internally by listing in pages. */
export class StreamingUnavailableError extends RuntimeError {
  override readonly name = 'StreamingUnavailableError'

  constructor(what: string) {
    super(
      'STREAMING_UNAVAILABLE',
      `the server does not stream the initial state of ${what}: using a paged list instead`,
    )
  }
}

/** A resource is read that was not declared to be cached. */
export class NotCachedError extends RuntimeError {
  override readonly name = 'NotCachedError'

  constructor(what: string, remedy: string) {
    super('NOT_CACHED', `${what} is not cached: ${remedy}`)
  }
}

/** A resource is read before its first complete state has arrived. */
export class NotSyncedError extends RuntimeError {
  override readonly name = 'NotSyncedError'

  constructor(what: string) {
    super('NOT_SYNCED', `${what} is not synced yet: await cache.waitForSync(signal) before reading it`)
  }
}

/** An index is read that was not declared. */
export class UnknownIndexError extends RuntimeError {
  override readonly name = 'UnknownIndexError'

  constructor(index: string, what: string) {
    super('UNKNOWN_INDEX', `the informer of ${what} has no index "${index}": declare it under indexers`)
  }
}

/** All Secrets or ConfigMaps of a cluster would have to be kept in memory. */
export class UnscopedInformerError extends RuntimeError {
  override readonly name = 'UnscopedInformerError'

  constructor(what: string) {
    super(
      'UNSCOPED_INFORMER',
      `an informer on ${what} of the whole cluster would keep all of them in memory: ` +
        'select by namespace, labelSelector or fieldSelector, or cache metadataOnly',
    )
  }
}

/** More informers than a cache may have: usually one per object where one per kind was meant. */
export class TooManyInformersError extends RuntimeError {
  override readonly name = 'TooManyInformersError'

  constructor(limit: number) {
    super(
      'TOO_MANY_INFORMERS',
      `the cache has ${limit} informers already: share them by selecting less narrowly, discard what is no longer ` +
        'needed, or raise maxInformers',
    )
  }
}

/** The cache was stopped, or an informer discarded, before it was synced. */
export class CacheStoppedError extends RuntimeError {
  override readonly name = 'CacheStoppedError'

  constructor(what: string) {
    super('CACHE_STOPPED', `the informer of ${what} was stopped`)
  }
}
