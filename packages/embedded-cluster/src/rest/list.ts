/** The verbs `get` and `list`: the revision to read, and pagination. */

import { badRequest, ExpiredContinue, expired, invalid, notFound, resourceVersionTooLarge } from '../api/api-errors.ts'
import type { HistoryExpiry } from '../history-expiry.ts'
import { type ResourceInfo, storageKey } from '../registry/resource-info.ts'
import { type FieldError, StatusError } from '../status-error.ts'
import { objectKey, type StoredObject } from '../store/stored-object.ts'
import type { RestContext } from './context.ts'
import { decodeContinue, encodeContinue } from './continue-token.ts'
import { Selection } from './selection.ts'
import type { WatchHub } from './watch-hub.ts'

/** A page of a collection, or all of it. */
export interface ListResult {
  /** The revision the items are consistent with. */
  readonly revision: number
  readonly items: readonly StoredObject[]
  readonly continue: string | undefined
  readonly remainingItemCount: number | undefined
}

/** How long a read waits for a future revision. */
const FUTURE_WAIT_MS = 3_000

/** Reads one object. `resourceVersion` requires a state at least that new. */
export async function getObject(
  context: RestContext & { readonly hub: WatchHub },
  info: ResourceInfo,
  namespace: string | undefined,
  name: string,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<StoredObject> {
  const wanted = parseResourceVersion(query.get('resourceVersion'), unreadableVersion)
  if (wanted !== undefined && wanted > 0) await waitForRevision(context, wanted, signal)
  const stored = context.store.get(storageKey(info), objectKey(namespace, name))
  if (stored === undefined) throw notFound(info, name)
  return context.readForms.of(info, stored)
}

/** Reads a collection. */
export async function listObjects(
  context: RestContext & { readonly hub: WatchHub; readonly history: Pick<HistoryExpiry, 'hold'> },
  info: ResourceInfo,
  namespace: string | undefined,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<ListResult> {
  const selection = Selection.parse(info, namespace, query)
  const limit = Math.max(parseInteger(query.get('limit')) ?? 0, 0)
  const continueToken = query.get('continue') ?? ''
  const wanted = parseResourceVersion(query.get('resourceVersion'), (why) =>
    badRequest(`invalid resource version: ${why}`),
  )
  checkListOptions(query, wanted, continueToken)
  const collection = storageKey(info)
  const complete = (list: ListResult) => {
    if (list.continue !== undefined) context.history.hold(list.revision)
    return completed(context, info, list)
  }
  if (continueToken !== '')
    return complete(await nextPage(context, collection, selection, limit, continueToken, signal))
  if (wanted !== undefined && wanted > 0) await waitForRevision(context, wanted, signal)
  const isExact = query.get('resourceVersionMatch') === 'Exact'
  const frozen = context.hub.visibleRevision(collection)
  // A read that allows any version comes from the watch cache, which tests may freeze.
  const isCached = wanted !== undefined && !isExact && wanted <= frozen
  const revision = isExact && wanted !== undefined ? wanted : isCached ? frozen : context.store.revision
  const source = isCached ? context.hub.visibleObjects(collection, selection.prefix) : undefined
  return complete(page(source ?? objectsAt(context, collection, selection, revision), selection, limit, revision))
}

function completed(context: RestContext, info: ResourceInfo, list: ListResult): ListResult {
  if (!info.custom) return list
  return { ...list, items: list.items.map((stored) => context.readForms.of(info, stored)) }
}

async function nextPage(
  context: RestContext,
  collection: string,
  selection: Selection,
  limit: number,
  token: string,
  signal: AbortSignal,
): Promise<ListResult> {
  const { revision, start } = decodeContinue(token)
  await waitForRevision(context, revision, signal)
  const after = selection.prefix + start
  // A negative revision means the latest state.
  const at = revision < 0 ? context.store.revision : revision
  const source = context.store.rangeAt(collection, at, { prefix: selection.prefix, after })
  if (source === undefined) throw new ExpiredContinue(encodeContinue({ revision: -1, start }))
  return page(source, selection, limit, at)
}

function objectsAt(
  context: RestContext,
  collection: string,
  selection: Selection,
  revision: number,
): Iterable<StoredObject> {
  const source = context.store.rangeAt(collection, revision, { prefix: selection.prefix })
  if (source === undefined) throw expired(`The resourceVersion for the provided list is too old.`)
  return source
}

function page(source: Iterable<StoredObject>, selection: Selection, limit: number, revision: number): ListResult {
  const items: StoredObject[] = []
  let remaining = 0
  for (const stored of source) {
    if (!selection.matches(stored)) continue
    if (limit === 0 || items.length < limit) items.push(stored)
    else {
      remaining += 1
      if (selection.isFiltered) break
    }
  }
  const last = items.at(-1)
  const hasMore = remaining > 0 && last !== undefined
  return {
    revision,
    items,
    continue: hasMore ? encodeContinue({ revision, start: last.key.slice(selection.prefix.length) }) : undefined,
    remainingItemCount: hasMore && !selection.isFiltered ? remaining : undefined,
  }
}

/** Waits until the store has reached `revision`; 504 if that takes more than three seconds. */
export async function waitForRevision(context: RestContext, revision: number, signal: AbortSignal): Promise<void> {
  if (context.store.revision >= revision) return
  await new Promise<void>((resolve) => {
    const finish = () => {
      unsubscribe()
      timer.cancel()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const unsubscribe = context.store.listenToAll(() => {
      if (context.store.revision >= revision) finish()
    })
    const timer = context.clock.schedule(FUTURE_WAIT_MS, finish)
    signal.addEventListener('abort', finish, { once: true })
  })
  signal.throwIfAborted()
  if (context.store.revision < revision) throw resourceVersionTooLarge(revision, context.store.revision)
}

/** A revision number; `undefined` when unset, which means the latest. `toError` creates the error for an invalid one. */
export function parseResourceVersion(text: string | null, toError: (why: string) => Error): number | undefined {
  if (text === null || text === '') return undefined
  if (/^\d{1,19}$/.test(text)) return Number(text)
  const value = JSON.stringify(text)
  throw toError(`resourceVersion: Invalid value: ${value}: strconv.ParseUint: parsing ${value}: invalid syntax`)
}

/** The error for an invalid version in reads of one object and watches: the real server has no reason for it. */
export function unreadableVersion(why: string): Error {
  return new StatusError(500, '', why)
}

/** An integer in the query string; 400 with the message of the real server when it is invalid. */
export function parseInteger(text: string | null): number | undefined {
  if (text === null) return undefined
  if (!/^[+-]?\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`)
  }
  return Number(text)
}

function checkListOptions(query: URLSearchParams, wanted: number | undefined, continueToken: string): void {
  const errors = matchProblems(query.get('resourceVersionMatch') ?? '', wanted, continueToken)
  if (query.get('sendInitialEvents') !== null) {
    const message = 'Forbidden: sendInitialEvents is forbidden for list'
    errors.push({ field: 'sendInitialEvents', reason: 'FieldValueForbidden', message })
  }
  if (errors.length > 0) throw invalidListOptions(errors)
  if (continueToken !== '' && wanted !== undefined && wanted > 0) {
    throw badRequest('specifying resource version is not allowed when using continue')
  }
}

function matchProblems(match: string, wanted: number | undefined, continueToken: string): FieldError[] {
  if (match === '') return []
  const field = 'resourceVersionMatch'
  const notAllowed = (why: string): FieldError => ({
    field,
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${why}`,
  })
  const errors: FieldError[] = []
  if (wanted === undefined) {
    errors.push(notAllowed('resourceVersionMatch is forbidden unless resourceVersion is provided'))
  }
  if (continueToken !== '') errors.push(notAllowed('resourceVersionMatch is forbidden when continue is provided'))
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`
    errors.push({ field, reason: 'FieldValueNotSupported', message })
  }
  if (match === 'Exact' && wanted === 0) {
    errors.push(notAllowed('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  return errors
}

/** 422 for list and watch parameters. */
export function invalidListOptions(errors: readonly FieldError[]): Error {
  return invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
}
