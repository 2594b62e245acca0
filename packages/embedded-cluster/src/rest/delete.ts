/** The verbs `delete` and `deletecollection`: preconditions, grace period, finalizers and propagation. */

import { badRequest, conflict, invalid, notFound, preconditionFailed } from '../api/api-errors.ts'
import { timestamp } from '../clock.ts'
import { arrayAt, isJsonObject, type JsonObject, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { groupResource, storageKey } from '../registry/resource-info.ts'
import type { FieldError, StatusError } from '../status-error.ts'
import { objectKey, type StoredObject } from '../store/stored-object.ts'
import { admitMutating, admitValidating } from './admit.ts'
import { type RestContext, strategyContext, toRequestVersion, type WriteRequest } from './context.ts'
import { parseInteger } from './list.ts'

/** Validated DeleteOptions. */
export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined
  readonly gracePeriodSeconds?: number | undefined
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined
  /** Whether the object is deleted as part of a collection. @default false */
  readonly isPartOfCollection?: boolean
}

/** The result of a deletion. */
export interface Deletion {
  /** The last state, or the state that waits for deletion, in the version of the request. */
  readonly object: JsonObject
  /** False when the object waits for finalizers, its grace period or its content. */
  readonly isGone: boolean
}

/** Reads DeleteOptions from a body and the query string; the body takes precedence. */
export function parseDeleteOptions(body: JsonObject | undefined, query: URLSearchParams): DeleteOptions {
  const policy = body?.propagationPolicy ?? query.get('propagationPolicy') ?? undefined
  const orphan = body?.orphanDependents ?? query.get('orphanDependents') ?? undefined
  const grace = body?.gracePeriodSeconds ?? parseInteger(query.get('gracePeriodSeconds'))
  const dryRun = arrayAt(body ?? {}, 'dryRun')
  if (dryRun.some((value) => value !== 'All')) {
    const message = `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`
    throw invalidOptions({ field: 'dryRun', reason: 'FieldValueNotSupported', message })
  }
  if (policy !== undefined && policy !== 'Background' && policy !== 'Foreground' && policy !== 'Orphan') {
    const supported = '"Foreground", "Background", "Orphan", "nil"'
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: ${supported}`
    throw invalidOptions({ field: 'propagationPolicy', reason: 'FieldValueNotSupported', message })
  }
  if (policy !== undefined && orphan !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    const message = `Invalid value: ${JSON.stringify(policy)}: ${why}`
    throw invalidOptions({ field: 'propagationPolicy', reason: 'FieldValueInvalid', message })
  }
  const byOrphan = orphan === undefined ? undefined : String(orphan) === 'true' ? 'Orphan' : 'Background'
  const preconditions = isJsonObject(body?.preconditions) ? body.preconditions : undefined
  const seconds = grace === undefined || grace === null ? undefined : Number(grace)
  if (seconds !== undefined && !Number.isInteger(seconds)) {
    throw badRequest(`gracePeriodSeconds: Invalid value: ${JSON.stringify(grace)}: must be an integer`)
  }
  return {
    propagationPolicy: policy ?? byOrphan,
    gracePeriodSeconds: seconds,
    preconditions:
      preconditions === undefined
        ? undefined
        : { uid: stringAt(preconditions, 'uid'), resourceVersion: stringAt(preconditions, 'resourceVersion') },
  }
}

function invalidOptions(error: FieldError): StatusError {
  return invalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', [error])
}

const jobWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'
/** Kinds whose dependents are orphaned by default, and the warning for the client. */
const orphansByDefault: Readonly<Record<string, string>> = { 'jobs.batch': jobWarning, replicationcontrollers: '' }

/** The policy of a request, or the default of the kind. */
function effectivePolicy(
  request: WriteRequest,
  options: DeleteOptions,
  finalizers: readonly unknown[],
): DeleteOptions['propagationPolicy'] {
  if (options.propagationPolicy !== undefined) return options.propagationPolicy
  if (finalizers.includes('orphan') || finalizers.includes('foregroundDeletion')) return undefined
  const warning = orphansByDefault[groupResource(request.info)]
  if (warning === undefined) return undefined
  if (warning !== '') request.warn(warning)
  return 'Orphan'
}

const MAX_ATTEMPTS = 20

/** Deletes one object, or marks it as being deleted if it has to wait. */
export async function deleteObject(
  context: RestContext,
  request: WriteRequest,
  options: DeleteOptions,
): Promise<Deletion> {
  const { info, name = '' } = request
  const collection = storageKey(info)
  const key = objectKey(request.namespace, name)
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const live = context.store.get(collection, key)
    if (live === undefined) throw notFound(info, name)
    checkPreconditions(request, options, live)
    const old = await toRequestVersion(context, request, context.readForms.of(info, live).object)
    // A request to delete a collection does not contain the names of its objects.
    const requestedName = options.isPartOfCollection === true ? '' : name
    const step = { operation: 'DELETE', object: undefined, oldObject: old, name: requestedName } as const
    await admitMutating(context, request, step)
    await admitValidating(context, request, step)
    const deletion = commitDeletion(context, request, options, live)
    if (deletion !== 'conflict') {
      return { ...deletion, object: await toRequestVersion(context, request, deletion.object) }
    }
  }
  throw conflict(info, name)
}

function checkPreconditions(request: WriteRequest, options: DeleteOptions, live: StoredObject): void {
  const { info, name = '' } = request
  const { uid, resourceVersion } = options.preconditions ?? {}
  const actual = objectAt(live.object, 'metadata').uid
  if (uid !== undefined && uid !== actual) {
    throw preconditionFailed(
      info,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${String(actual)}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== String(live.revision)) {
    throw preconditionFailed(
      info,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${live.revision}). The object might have been modified`,
    )
  }
}

function commitDeletion(
  context: RestContext,
  request: WriteRequest,
  options: DeleteOptions,
  live: StoredObject,
): Deletion | 'conflict' {
  const { info } = request
  const collection = storageKey(info)
  const strategy = context.strategyOf(info)
  const marked = markDeleted(context, request, options, live.object)
  const waits = marked !== undefined
  if (request.dryRun) return { object: marked ?? ended(context, strategy, live.object), isGone: !waits }
  request.signal.throwIfAborted()
  if (marked !== undefined && jsonEqual(marked, live.object)) return { object: live.object, isGone: false }
  const committed = context.store.commit({ collection, key: live.key, expected: live.revision, object: marked })
  if (committed === 'conflict') return 'conflict'
  if (waits) return { object: committed.object, isGone: false }
  strategy.release?.(live.object, strategyContext(context, false))
  return { object: ended(context, strategy, live.object), isGone: true }
}

/** The response for an object with a grace period that was deleted immediately. */
function ended(context: RestContext, strategy: KindStrategy, object: JsonObject): JsonObject {
  if (strategy.gracePeriodSeconds === undefined) return object
  const metadata = objectAt(object, 'metadata')
  const { deletionTimestamp = timestamp(context.clock.now()), generation } = metadata
  const isFirst = metadata.deletionTimestamp === undefined
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(isFirst && typeof generation === 'number' ? { generation: generation + 1 } : {}),
      deletionTimestamp,
      deletionGracePeriodSeconds: 0,
    },
  }
}

/** The state in which the object waits, or `undefined` when it can be deleted immediately. */
function markDeleted(
  context: RestContext,
  request: WriteRequest,
  options: DeleteOptions,
  live: JsonObject,
): JsonObject | undefined {
  const strategy = context.strategyOf(request.info)
  const isFirst = objectAt(live, 'metadata').deletionTimestamp === undefined
  const prepared = isFirst ? strategy.prepareForDelete?.(live, strategyContext(context, request.dryRun)) : undefined
  const object = prepared ?? live
  const metadata = objectAt(object, 'metadata')
  const existing = arrayAt(metadata, 'finalizers')
  const finalizers = finalizersFor(existing, effectivePolicy(request, options, existing))
  const grace = strategy.gracePeriodSeconds?.(object, options.gracePeriodSeconds) ?? 0
  const holdsContent = object.kind === 'Namespace' && arrayAt(objectAt(object, 'spec'), 'finalizers').length > 0
  if (finalizers.length === 0 && grace === 0 && !holdsContent) return undefined
  const next: JsonObject = { ...metadata, finalizers: [...finalizers] }
  if (finalizers.length === 0) delete next.finalizers
  const marked: JsonObject = { ...object, metadata: next }
  const pending = metadata.deletionGracePeriodSeconds
  if (metadata.deletionTimestamp === undefined) {
    next.deletionTimestamp = timestamp(context.clock.now() + grace * 1000)
    next.deletionGracePeriodSeconds = grace
    if (typeof metadata.generation === 'number') next.generation = metadata.generation + 1
    if (holdsContent) {
      marked.status = { ...objectAt(object, 'status'), phase: 'Terminating' }
      // Namespaces have no grace period.
      delete next.deletionGracePeriodSeconds
    }
  } else if (typeof pending === 'number' && grace < pending && isShorter(options, metadata, grace)) {
    next.deletionTimestamp = timestamp(context.clock.now() + grace * 1000)
    next.deletionGracePeriodSeconds = grace
    if (grace === 0 && finalizers.length === 0) return undefined
  }
  return marked
}

/** A second request may only shorten the grace period, and only if it specifies one. */
function isShorter(options: DeleteOptions, metadata: JsonObject, grace: number): boolean {
  return options.gracePeriodSeconds !== undefined || grace === 0 || metadata.deletionGracePeriodSeconds === undefined
}

/** The two finalizers of propagation policies are mutually exclusive. */
function finalizersFor(
  existing: readonly JsonObject[string][],
  policy: DeleteOptions['propagationPolicy'],
): readonly string[] {
  const texts = existing.map(String)
  if (policy === undefined) return texts
  const others = texts.filter((finalizer) => finalizer !== 'orphan' && finalizer !== 'foregroundDeletion')
  if (policy === 'Background') return others
  const wanted = policy === 'Orphan' ? 'orphan' : 'foregroundDeletion'
  return texts.includes(wanted)
    ? texts.filter((finalizer) => finalizer === wanted || others.includes(finalizer))
    : [...others, wanted]
}
