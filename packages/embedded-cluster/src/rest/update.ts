/** Changes of existing objects: shared by `update`, `patch`, `apply` and writes to subresources. */

import { badRequest, conflict, invalid, notFound } from '../api/api-errors.ts'
import { metadataOf, validateMetadata } from '../api/object-meta.ts'
import { sameExceptTimes } from '../apply/track.ts'
import { arrayAt, type JsonObject, type JsonValue, jsonEqual, objectAt, stringAt } from '../json.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { storageApiVersion, storageKey, subresource } from '../registry/resource-info.ts'
import { type FieldError, StatusError } from '../status-error.ts'
import { objectKey, type StoredObject } from '../store/stored-object.ts'
import { admitMutating, admitValidating } from './admit.ts'
import { type RestContext, strategyContext, toRequestVersion, toVersion, type WriteRequest } from './context.ts'
import { defaultObject } from './decode-object.ts'
import { recordOwnership, validateObject } from './schema-steps.ts'

/** A new state computed from the live one. */
export interface ComputedState {
  /** A private draft in the version of the request, decoded and defaulted. */
  readonly object: JsonObject
  /** Whether it already has its managedFields. */
  readonly tracked: boolean
}

/** The object for admission, when a subresource has its own kind. */
export interface AdmissionView {
  /** The object for mutating plug-ins. */
  readonly offer: (object: JsonObject) => JsonObject
  /** The object for validating plug-ins. */
  readonly show: (object: JsonObject) => JsonObject
  /** Applies the changes of admission to the object; `object` is a draft and may be modified. */
  readonly take: (object: JsonObject, shown: JsonObject) => JsonObject
}

/** Options of {@link changeObject}. */
export interface ChangeOptions {
  /** Computes the new state; called again after a conflicting write. */
  readonly compute: (live: JsonObject) => Promise<ComputedState> | ComputedState
  /** Whether a state without resourceVersion is rejected, as in PUT on custom resources. @default false */
  readonly requiresVersion?: boolean
  /** Whether the state is computed from the live one, so that its own version is not a precondition. @default false */
  readonly isPatch?: boolean
  /** Whether the server itself makes the change for another request: no admission, no new manager. @default false */
  readonly isInternal?: boolean
  /** @default admission gets the object itself */
  readonly admissionView?: AdmissionView
}

/** After this many conflicts the caller gets the error. */
const MAX_ATTEMPTS = 20

/** Reads, computes, validates and stores; retries after a conflicting write if the client allows it. */
export async function changeObject(
  context: RestContext,
  request: WriteRequest,
  options: ChangeOptions,
): Promise<JsonObject> {
  const { info, name = '' } = request
  const collection = storageKey(info)
  const key = objectKey(request.namespace, name)
  for (let attempt = 1; ; attempt += 1) {
    const live = context.store.get(collection, key)
    if (live === undefined) throw notFound(info, name)
    const outcome = await attemptChange(context, request, options, live)
    if (outcome.object !== undefined) return outcome.object
    if (!outcome.mayRetry || attempt >= MAX_ATTEMPTS) throw conflict(info, name)
  }
}

const wholeObject: AdmissionView = { offer: (object) => object, show: (object) => object, take: (_, shown) => shown }

interface Outcome {
  /** Absent after a conflict. */
  readonly object: JsonObject | undefined
  readonly mayRetry: boolean
}

async function attemptChange(
  context: RestContext,
  request: WriteRequest,
  options: ChangeOptions,
  live: StoredObject,
): Promise<Outcome> {
  const { info, name = '' } = request
  const strategy = context.strategyOf(info)
  const forStrategy = strategyContext(context, request.dryRun)
  const old = await toRequestVersion(context, request, context.readForms.of(info, live).object)
  const computed = await options.compute(old)
  const givenVersion = stringAt(metadataOf(computed.object), 'resourceVersion') ?? ''
  requireVersion(request, options, givenVersion, live)
  carryMetadata(request, computed.object, old, options.isPatch === true)
  separateStatus(request, computed.object, old)
  const isOwned = computed.tracked || options.isInternal === true
  const tracked = isOwned ? computed.object : recordOwnership(context, request, computed.object, old)
  const { offer, show, take } = options.admissionView ?? wholeObject
  const step = { operation: 'UPDATE', object: offer(tracked), oldObject: offer(old), name } as const
  const seen = options.isInternal === true ? step.object : await admitMutating(context, request, step)
  const admitted = seen === step.object ? tracked : take(tracked, seen)
  const object = admitted === tracked ? tracked : defaultObject(context, info, admitted)
  carryMetadata(request, object, old, options.isPatch === true)
  if (request.subresource === 'status' && info.custom) keepMetadata(object, old)
  if (request.subresource === undefined) strategy.prepareForUpdate?.(object, old, forStrategy)
  advanceGeneration(request, strategy, object, old)
  const errors = [
    ...validateMetadata(info, strategy, object, old),
    ...validateObject(info, object, old),
    ...validateWritten(request, strategy, object, old),
  ]
  if (errors.length > 0) throw invalid(info.storedAs ?? info, name, errors)
  if (request.subresource === undefined) for (const text of strategy.warnings?.(object, old) ?? []) request.warn(text)
  if (options.isInternal !== true) {
    await admitValidating(context, request, { ...step, object: show(object), oldObject: show(old) })
  }
  // Writing an object unchanged is how a client moves it to another storage version.
  const isEncoded = !info.custom || live.object.apiVersion === storageApiVersion(info)
  if (isEncoded && sameExceptTimes(old, object)) return { object: old, mayRetry: false }
  const stored = await toVersion(context, object, storageApiVersion(info), request.signal)
  if (request.dryRun) return { object, mayRetry: false }
  request.signal.throwIfAborted()
  const isGone = isReadyToVanish(object)
  const committed = context.store.commit({
    collection: storageKey(info),
    key: live.key,
    expected: live.revision,
    object: isGone ? undefined : stored,
  })
  if (committed === 'conflict') {
    const isPinned = options.isPatch === true ? false : givenVersion !== ''
    return { object: undefined, mayRetry: !isPinned }
  }
  if (isGone) {
    strategy.release?.(object, forStrategy)
    return { object, mayRetry: false }
  }
  return { object: await toRequestVersion(context, request, committed.object), mayRetry: false }
}

/** Validates the part that this request writes; other subresources validate their own part. */
function validateWritten(
  request: WriteRequest,
  strategy: KindStrategy,
  object: JsonObject,
  old: JsonObject,
): readonly FieldError[] {
  if (request.subresource === undefined) return strategy.validate?.(object, old) ?? []
  return request.subresource === 'status' ? (strategy.validateStatus?.(object, old) ?? []) : []
}

function requireVersion(request: WriteRequest, options: ChangeOptions, given: string, live: StoredObject): void {
  const { info, name = '' } = request
  if (given === '') {
    if (options.requiresVersion !== true) return
    const message = 'Invalid value: 0: must be specified for an update'
    const errors = [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid', message }] as const
    // This error contains the resource, while all others contain the kind.
    throw invalid({ group: info.group, kind: info.plural }, name, errors)
  }
  if (!/^\d+$/.test(given)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`)
  }
  if (given !== '0' && Number(given) !== live.revision) throw conflict(info, name)
}

/** 400 unless the metadata matches the object in the URL. */
export function requireSameObject({ name = '', namespace = '' }: WriteRequest, metadata: JsonObject): void {
  const givenName = stringAt(metadata, 'name') ?? ''
  if (givenName === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  }
  if (givenName !== name) {
    throw badRequest(`the name of the object (${givenName}) does not match the name on the URL (${name})`)
  }
  const givenNamespace = stringAt(metadata, 'namespace') ?? ''
  if (givenNamespace !== '' && givenNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
}

/** Keeps fields that only the server may change, and rejects an object other than the one in the URL. */
function carryMetadata(request: WriteRequest, object: JsonObject, old: JsonObject, isPatch: boolean): void {
  const metadata = metadataOf(object)
  const before = objectAt(old, 'metadata')
  const { info, name = '' } = request
  requireSameObject(request, metadata)
  const uid = stringAt(metadata, 'uid') ?? ''
  if (uid !== '' && uid !== before.uid) {
    throw isPatch ? invalid(info, name, immutableUid(uid)) : uidConflict(request, uid, before.uid)
  }
  for (const field of ['namespace', 'uid', 'creationTimestamp', 'generation']) {
    if (before[field] === undefined) delete metadata[field]
    else metadata[field] = before[field]
  }
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds']) {
    if (before[field] !== undefined) metadata[field] ??= before[field]
  }
  metadata.resourceVersion = before.resourceVersion
  delete metadata.selfLink
}

/** The error of a patch that changes the uid; replacing an object by one with another uid is a conflict instead. */
function immutableUid(uid: string): readonly FieldError[] {
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`
  const error = { field: 'metadata.uid', reason: 'FieldValueInvalid', message } as const
  // On update, metadata is validated twice, once for all kinds and once for the kind.
  return [error, error]
}

/** 409 for a write to an object with another uid. */
export function uidConflict(request: WriteRequest, given: string, actual: JsonValue | undefined): StatusError {
  const { info, name = '' } = request
  const kind = `${info.custom ? `${info.group}/` : ''}${info.plural}`
  // A dry run does not reach the storage, which knows its own prefix.
  const key = `${request.dryRun ? '' : '/registry'}/${kind}/${objectKey(request.namespace, name)}`
  const failed = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${String(actual)}`
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`
  return conflict(info, name, error)
}

/** With a status subresource, writes of the object keep the status, and writes of the status keep the object. */
function separateStatus(request: WriteRequest, object: JsonObject, old: JsonObject): void {
  if (request.subresource === 'status') {
    for (const field of Object.keys(object)) if (field !== 'status' && field !== 'metadata') delete object[field]
    for (const [field, value] of Object.entries(old)) {
      if (field !== 'status' && field !== 'metadata') object[field] = value
    }
    if (!request.info.custom) keepLabels(request, object, old)
  } else if (request.subresource === undefined && subresource(request.info, 'status') !== undefined) {
    if (old.status === undefined) delete object.status
    else object.status = old.status
  }
}

/** A status write of a custom resource changes nothing else, although its manager owns the other fields it set. */
function keepMetadata(object: JsonObject, old: JsonObject): void {
  const { managedFields } = metadataOf(object)
  object.metadata = { ...objectAt(old, 'metadata'), ...(managedFields !== undefined && { managedFields }) }
}

/** A status write of a Deployment may change annotations, but never labels. */
function keepLabels(request: WriteRequest, object: JsonObject, old: JsonObject): void {
  if (request.info.kind !== 'Deployment') return
  const { labels } = objectAt(old, 'metadata')
  if (labels === undefined) delete metadataOf(object).labels
  else metadataOf(object).labels = labels
}

function advanceGeneration(request: WriteRequest, strategy: KindStrategy, object: JsonObject, old: JsonObject): void {
  const before = objectAt(old, 'metadata').generation
  if (typeof before !== 'number') return
  // Assigning a pod to a node does not change the desired state.
  if (request.subresource === 'binding') return
  const hasNewSpec = specFields(request, strategy, object, old).some((field) => !jsonEqual(object[field], old[field]))
  const annotationsCount = strategy.annotationsCount === true && request.subresource !== 'status'
  if (hasNewSpec || (annotationsCount && hasNewAnnotations(object, old))) metadataOf(object).generation = before + 1
}

function hasNewAnnotations(object: JsonObject, old: JsonObject): boolean {
  return !jsonEqual(objectAt(metadataOf(object), 'annotations'), objectAt(objectAt(old, 'metadata'), 'annotations'))
}

function specFields(
  request: WriteRequest,
  strategy: KindStrategy,
  object: JsonObject,
  old: JsonObject,
): readonly string[] {
  if (strategy.generation !== undefined) return strategy.generation
  if (!request.info.custom) return []
  const hasStatus = subresource(request.info, 'status') !== undefined
  const fields = new Set([...Object.keys(object), ...Object.keys(old)])
  return [...fields].filter((field) => field !== 'metadata' && !(hasStatus && field === 'status'))
}

/** Whether a deletion that waited for finalizers (or for a namespace's content) can be completed. */
function isReadyToVanish(object: JsonObject): boolean {
  const metadata = objectAt(object, 'metadata')
  if (metadata.deletionTimestamp === undefined) return false
  if (arrayAt(metadata, 'finalizers').length > 0) return false
  const grace = metadata.deletionGracePeriodSeconds
  if (typeof grace === 'number' && grace > 0) return false
  return object.kind !== 'Namespace' || arrayAt(objectAt(object, 'spec'), 'finalizers').length === 0
}
