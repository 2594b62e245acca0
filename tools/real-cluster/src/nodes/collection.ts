/** Follows a collection continuously: lists it, watches it, and lists it again whenever the watch cannot continue. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from '../api-client.ts'
import { RequestFailedError } from '../errors.ts'
import type { ObjectMeta } from './objects.ts'

/** A change of the collection. */
export type Change<T> =
  | { readonly type: 'replaced'; readonly objects: readonly T[] }
  | { readonly type: 'changed' | 'deleted'; readonly object: T }

export interface FollowOptions {
  readonly signal: AbortSignal
  /** Called with every failure that was recovered from. */
  readonly onFailure?: (error: unknown) => void
}

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: T
}

interface ListPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly T[]
}

const PAGE_SIZE = 500
const WATCH_TIMEOUT_SECONDS = 200
// Bookmarks arrive about every 60 s: longer silence means that the connection is dead but was not closed.
const SILENCE_LIMIT_MS = 90_000
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 5_000

/**
 * Every change of the collection at `path`, until the signal aborts; then it ends without an error.
 *
 * Guarantees: begins with `replaced`; a later one replaces all earlier changes. Server failures do not end it.
 */
export async function* follow<T extends { readonly metadata: ObjectMeta }>(
  client: ApiClient,
  path: string,
  options: FollowOptions,
): AsyncGenerator<Change<T>> {
  const { signal, onFailure } = options
  let resourceVersion: string | undefined
  let failures = 0
  while (!signal.aborted) {
    try {
      if (resourceVersion === undefined) {
        const list = await listAll<T>(client, path, signal)
        yield { type: 'replaced', objects: list.objects }
        resourceVersion = list.resourceVersion
      }
      for await (const event of watch<T>(client, path, resourceVersion, signal)) {
        failures = 0
        resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
        if (event.type === 'DELETED') yield { type: 'deleted', object: event.object }
        else if (event.type !== 'BOOKMARK') yield { type: 'changed', object: event.object }
      }
    } catch (error) {
      if (signal.aborted) return
      onFailure?.(error)
      // An error response means that the watch cannot resume from this version; a lost connection does not.
      if (error instanceof RequestFailedError) resourceVersion = undefined
      failures += 1
      const limitMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
      // An aborted wait is the normal end; the loop condition checks for it.
      await sleep(limitMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
    }
  }
}

async function listAll<T>(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<{ objects: T[]; resourceVersion: string }> {
  const objects: T[] = []
  for (let token = ''; ; ) {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(token && { continue: token }) })
    const page: ListPage<T> = await client.json({ method: 'GET', path: `${path}?${query}`, signal })
    objects.push(...page.items)
    token = page.metadata.continue ?? ''
    if (token === '') return { objects, resourceVersion: page.metadata.resourceVersion }
  }
}

async function* watch<T>(
  client: ApiClient,
  path: string,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion,
    timeoutSeconds: String(WATCH_TIMEOUT_SECONDS),
  })
  const silence = new AbortController()
  const timer = setTimeout(
    () => silence.abort(new Error(`no bookmark or event from the watch on ${path}`)),
    SILENCE_LIMIT_MS,
  )
  try {
    for await (const line of client.lines(`${path}?${query}`, AbortSignal.any([signal, silence.signal]))) {
      timer.refresh()
      // The server's schema guarantees the type of the objects.
      const event = JSON.parse(line) as WatchEvent<T> & { object: { code?: number } }
      if (event.type === 'ERROR') throw new RequestFailedError('WATCH', path, event.object.code ?? 500, line)
      yield event
    }
  } finally {
    clearTimeout(timer)
  }
}
