/** The verb `watch`: where the stream starts, its initial events, and the encoding of each item. */

import { expired, toStatus } from '../api/api-errors.ts'
import type { JsonObject } from '../json.ts'
import { type ResourceInfo, storageKey } from '../registry/resource-info.ts'
import { StatusError } from '../status-error.ts'
import { type StoreEvent, watchLine } from '../store/event-log.ts'
import type { StoredObject } from '../store/stored-object.ts'
import type { RestContext } from './context.ts'
import { invalidListOptions, parseInteger, parseResourceVersion, unreadableVersion, waitForRevision } from './list.ts'
import { isTrue } from './request-info.ts'
import { Selection } from './selection.ts'
import type { WatchHub } from './watch-hub.ts'
import { Watcher, type WatchItem } from './watcher.ts'

/** Encodes objects of a stream in the requested form. */
export interface WatchView {
  /** A whole event, which may come from the cache that all watchers share. */
  event(type: string, event: StoreEvent): Uint8Array | Promise<Uint8Array>
  /** An object without an event: the initial state, or the last visible one. */
  object(type: string, stored: StoredObject): Uint8Array | Promise<Uint8Array>
  bookmark(bookmark: JsonObject): Uint8Array
}

const encoder = new TextEncoder()
const MAX_CHUNK_BYTES = 64 * 1024
const MIN_TIMEOUT_MS = 30 * 60_000

/** An open stream: `body` ends with the watch. */
export interface OpenWatch {
  readonly watcher: Watcher | undefined
  readonly body: AsyncIterable<Uint8Array>
}

/** Validated parameters of a watch. */
interface WatchParameters {
  readonly revision: number | undefined
  readonly sendsBookmarks: boolean
  /** Whether the stream starts with the current state. */
  readonly startsWithState: boolean
  /** Whether a bookmark marks the end of that state. */
  readonly marksStateEnd: boolean
  readonly timeoutMs: number
}

/** Opens a watch on a collection, or with `name` on one object. */
export async function watchObjects(
  context: RestContext & { readonly hub: WatchHub; readonly maxBufferedEvents: number },
  info: ResourceInfo,
  scope: { readonly namespace: string | undefined; readonly name?: string | undefined },
  query: URLSearchParams,
  view: WatchView,
  signal: AbortSignal,
): Promise<OpenWatch> {
  const parameters = parseParameters(query, context.random)
  const selection = Selection.parse(info, scope.namespace, query, scope.name)
  const collection = storageKey(info)
  const { revision } = parameters
  if (parameters.startsWithState && revision !== undefined && revision > 0) {
    try {
      await waitForRevision(context, revision, signal)
    } catch (error) {
      if (error instanceof StatusError) return { watcher: undefined, body: errorStream(error) }
      throw error
    }
  }
  const visible = context.hub.visibleRevision(collection)
  // Up to the visible revision nothing is missing, whatever the store has discarded.
  const isCurrent = parameters.startsWithState || (revision ?? visible) >= visible
  const replayed = isCurrent ? [] : context.store.eventsSince(collection, revision ?? visible)
  if (replayed === undefined) {
    const gone = expired(`too old resource version: ${revision} (${context.store.revision})`)
    return { watcher: undefined, body: errorStream(gone) }
  }
  const watcher = new Watcher({
    clock: context.clock,
    hub: context.hub,
    collection,
    selection,
    afterRevision: parameters.startsWithState ? visible : (revision ?? visible),
    sendsBookmarks: parameters.sendsBookmarks,
    timeoutMs: parameters.timeoutMs,
    maxBuffered: context.maxBufferedEvents,
    signal,
  })
  const initial: WatchItem[] = []
  if (parameters.startsWithState) {
    for (const stored of context.hub.visibleObjects(collection, selection.prefix)) {
      if (selection.matches(stored)) initial.push({ kind: 'object', type: 'ADDED', stored })
    }
    if (parameters.marksStateEnd) initial.push({ kind: 'bookmark', revision: visible, endsInitialEvents: true })
  }
  for (const event of replayed) if (event.revision <= visible) watcher.offer(event)
  return { watcher, body: stream(watcher, initial, info, view) }
}

async function* stream(
  watcher: Watcher,
  initial: readonly WatchItem[],
  info: ResourceInfo,
  view: WatchView,
): AsyncGenerator<Uint8Array> {
  try {
    let items: readonly WatchItem[] | undefined = initial
    while (items !== undefined) {
      let pending: Uint8Array[] = []
      let bytes = 0
      for (const item of items) {
        const written = write(item, info, view)
        // Only conversions wait; waiting for each event would cost more than copying it.
        const line = written instanceof Uint8Array ? written : await written
        pending.push(line)
        bytes += line.length
        if (bytes >= MAX_CHUNK_BYTES) {
          yield pending.length === 1 ? line : Buffer.concat(pending)
          pending = []
          bytes = 0
        }
      }
      const [first] = pending
      if (first !== undefined) yield pending.length === 1 ? first : Buffer.concat(pending)
      items = await watcher.take()
    }
  } catch (error) {
    // A conversion webhook may fail in the middle of a stream; the client gets an ERROR event and lists again.
    if (!(error instanceof StatusError)) throw error
    yield errorLine(error)
  } finally {
    watcher.end()
  }
}

function write(item: WatchItem, info: ResourceInfo, view: WatchView): Uint8Array | Promise<Uint8Array> {
  switch (item.kind) {
    case 'event':
      return view.event(item.type, item.event)
    case 'object':
      return view.object(item.type, item.stored)
    case 'bookmark':
      return view.bookmark(bookmarkObject(info, item))
  }
}

function bookmarkObject(info: ResourceInfo, item: WatchItem & { kind: 'bookmark' }): JsonObject {
  const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
  const annotations = item.endsInitialEvents ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  return { kind: info.kind, apiVersion, metadata: { resourceVersion: String(item.revision), ...annotations } }
}

/** An ERROR event with a Status, which ends a stream. */
export function errorLine(error: StatusError): Uint8Array {
  return watchLine('ERROR', encoder.encode(JSON.stringify(toStatus(error))))
}

async function* errorStream(error: StatusError): AsyncGenerator<Uint8Array> {
  yield errorLine(error)
}

function parseParameters(query: URLSearchParams, random: () => number): WatchParameters {
  const revision = parseResourceVersion(query.get('resourceVersion'), unreadableVersion)
  const sendsBookmarks = isTrue(query.get('allowWatchBookmarks'))
  const match = query.get('resourceVersionMatch') ?? ''
  const initial = query.get('sendInitialEvents')
  checkInitialEvents(initial, match)
  const wantsInitial = initial !== null && isTrue(initial)
  const startsWithState = wantsInitial || (initial === null && (revision === undefined || revision === 0))
  return {
    revision,
    sendsBookmarks,
    startsWithState,
    marksStateEnd: startsWithState && sendsBookmarks,
    timeoutMs: parseTimeout(query.get('timeoutSeconds')) ?? MIN_TIMEOUT_MS * (1 + random()),
  }
}

function checkInitialEvents(initial: string | null, match: string): void {
  if (initial !== null && match !== 'NotOlderThan') {
    const field = 'resourceVersionMatch'
    const message = 'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    const supported = {
      field,
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
    } as const
    throw invalidListOptions([{ field, reason: 'FieldValueForbidden', message }, ...(match === '' ? [] : [supported])])
  }
  if (initial === null && match !== '') {
    const message = 'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    throw invalidListOptions([{ field: 'resourceVersionMatch', reason: 'FieldValueForbidden', message }])
  }
}

/** Zero means unset; a watch with a shorter timeout ends immediately. */
function parseTimeout(text: string | null): number | undefined {
  const seconds = parseInteger(text)
  return seconds === undefined || seconds === 0 ? undefined : Math.max(0, seconds * 1000)
}
