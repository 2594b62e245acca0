/** Lists and watches one collection: pages, deadlines and time limits, but no state and no retries. */
import { type Clock, untilAborted, withDeadline } from '@reeve/http'
import {
  isExpired,
  type KubeClient,
  type KubeList,
  type KubeObject,
  type Resource,
  type Selection,
  type Stored,
  type WatchEvent,
} from '@reeve/kube'
import { CACHE_DEFAULTS } from '../defaults.ts'
import { ListTimeoutError, UnversionedListError, WatchSilentError } from './cache-error.ts'
import { describeSelection } from './informer-options.ts'

/** Shared: an `AbortError` of its own for every session would cost more than the rest of its end. */
const sessionEnded = new DOMException('the watch session has ended', 'AbortError')

/** What a {@link CollectionSource} works with. */
export interface CollectionSourceOptions<T extends KubeObject> {
  readonly client: KubeClient
  readonly resource: Resource<T>
  readonly selection: Selection
  readonly metadataOnly: boolean
  readonly clock: Clock
  readonly random: () => number
  readonly pageSize: number
}

/** Where a watch starts: after a version, or with the whole state as its first events. */
export type WatchStart =
  | { readonly resourceVersion: string }
  | { readonly sendInitialEvents: true; readonly resourceVersionMatch: 'NotOlderThan' }

/**
 * One collection of a server.
 *
 * *Guarantees*: every call ends promptly when its signal aborts or its deadline passes, even when the transport
 * below does not listen to signals. Lists are consistent reads: never older than anything written before the call.
 */
export class CollectionSource<T extends KubeObject> {
  /** Names the collection in messages. */
  readonly description: string
  readonly #options: CollectionSourceOptions<T>

  constructor(options: CollectionSourceOptions<T>) {
    this.#options = options
    this.description = describeSelection(options.resource, options.selection)
  }

  /**
   * Passes every object to `collect`, page by page, and returns the version of the whole.
   *
   * @param restart called to discard what was collected: the pages took longer than the server remembers, and
   * the list is repeated without pages
   */
  async list(signal: AbortSignal, collect: (object: Stored<T>) => void, restart: () => void): Promise<string> {
    let limit = this.#options.pageSize
    let token: string | undefined
    let version: string | undefined
    for (;;) {
      try {
        const page = await this.#page(signal, limit, token)
        version ??= page.version
        for (const object of page.items) collect(object)
        token = page.metadata.continue || undefined
        if (token === undefined) return version
      } catch (error) {
        if (token === undefined || !isExpired(error)) throw error
        restart()
        limit = 0
        token = undefined
        version = undefined
      }
    }
  }

  /** Reads a single object, to check that the server responds. */
  async probe(signal: AbortSignal): Promise<void> {
    await this.#page(signal, 1, undefined)
  }

  /**
   * Passes each event of a watch to `onEvent`. The server is asked to end the watch after a random time of a few minutes.
   *
   * *Guarantees*: resolves when the server ends the stream; rejects with {@link WatchSilentError} when nothing arrives for
   * `silenceMs`, with the signal's reason when that aborts, and with whatever the watch or `onEvent` throws.
   *
   * @param silenceMs how long silence is tolerated now; called again after each event, so it may change
   */
  async watch(
    signal: AbortSignal,
    start: WatchStart,
    silenceMs: () => number,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const { client, resource, selection, metadataOnly, clock, random } = this.#options
    const { minWatchSeconds, maxWatchSeconds } = CACHE_DEFAULTS
    const timeoutSeconds = Math.floor(minWatchSeconds + random() * (maxWatchSeconds - minWatchSeconds))
    signal.throwIfAborted()
    const session = new AbortController()
    const endSession = () => session.abort(signal.reason)
    signal.addEventListener('abort', endSession, { once: true })

    let heardAtMs = clock.now()
    let timer = clock.schedule(silenceMs(), checkSilence)
    const { description } = this
    // One timer per quiet period instead of one per event: when it fires, it checks the time of the last event and is
    // rescheduled.
    function checkSilence(): void {
      const leftMs = heardAtMs + silenceMs() - clock.now()
      if (leftMs <= 0) session.abort(new WatchSilentError(description, silenceMs()))
      else timer = clock.schedule(leftMs, checkSilence)
    }

    const options = { ...selection, ...start, metadataOnly, allowWatchBookmarks: true, timeoutSeconds }
    try {
      const followed = client.follow(resource, { ...options, signal: session.signal }, (event) => {
        // The transport below may not listen to signals.
        if (session.signal.aborted) return
        heardAtMs = clock.now()
        onEvent(event)
      })
      await untilAborted(followed, session.signal)
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', endSession)
      session.abort(sessionEnded)
    }
  }

  async #page(
    signal: AbortSignal,
    limit: number,
    token: string | undefined,
  ): Promise<KubeList<T> & { readonly version: string }> {
    const { client, resource, selection, metadataOnly, clock } = this.#options
    const timeoutMs = CACHE_DEFAULTS.listTimeoutMs
    const onTimeout = () => new ListTimeoutError(this.description, timeoutMs)
    const next = token === undefined ? {} : { continue: token }
    const page = await withDeadline({ clock, signal, timeoutMs, onTimeout }, (bounded) =>
      client.list(resource, { ...selection, ...next, limit, metadataOnly, timeoutMs, signal: bounded }),
    )
    const version = page.metadata.resourceVersion
    if (!version) throw new UnversionedListError(this.description)
    return { ...page, version }
  }
}
