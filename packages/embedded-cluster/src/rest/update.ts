/** Changing what exists: the part that `update`, `patch`, `apply` and writes to subresources share. */
import { sameExceptTimes } from '../apply/track.ts'
import type { KindStrategy } from '../builtin/kind-strategy.ts'
import { arrayAt, type JsonObject, type JsonValue, jsonEqual, objectAt, stringAt } from '../json.ts'
import { storageApiVersion, storageKey, subresource } from '../registry/resource-info.ts'
import { type FieldError, StatusError } from '../status-error.ts'
import { objectKey, type StoredObject } from '../store/stored-object.ts'
import { admitMutating, admitValidating } from './admit.ts'
import { badRequest, conflict, invalid, notFound } from './api-errors.ts'
import { type RestContext, strategyContext, toRequestVersion, toVersion, type WriteRequest } from './context.ts'
import { defaultObject } from './decode-object.ts'
import { metadataOf, validateMetadata } from './object-meta.ts'
import { recordOwnership, validateObject } from './schema-steps.ts'

/** A new state computed from the live one. */
export interface ComputedState {
  /** A private draft in the version of the request, decoded and defaulted. */
  readonly object: JsonObject
  /** It carries its managedFields already. */
  readonly tracked: boolean
}

/** What admission sees in place of the object, when a subresource has a kind of its own. */
export interface AdmissionView {
  /** What those see who may change it. */
  readonly offer: (object: JsonObject) => JsonObject
  /** What those see who only judge it. */
  readonly show: (object: JsonObject) => JsonObject
  /** The object after admission changed what it saw; `object` is a draft and may be changed. */
  readonly take: (object: JsonObject, shown: JsonObject) => JsonObject
}

/** How {@link changeObject} treats what it finds. */
export interface ChangeOptions {
  /** Computes the new state; called again when somebody else wrote in between. */
  readonly compute: (live: JsonObject) => Promise<ComputedState> | ComputedState
  /** Whether a state without resourceVersion is refused, as PUT on custom resources does. @default false */
  readonly requiresVersion?: boolean
  /** Whether the computed state starts from the live one, so that its own version says nothing. @default false */
  readonly isPatch?: boolean
  /** Whether the server itself makes the change for another request: no admission, no new owner. @default false */
  readonly isInternal?: boolean
  /** @default admission sees the object itself */
  readonly admissionView?: AdmissionView
}

/** Above this many lost races the caller gets the conflict. */
const MAX_ATTEMPTS = 20

/** Reads, computes, checks and stores, again when another write came first and the client allows it. */
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
  /** Absent when the race was lost. */
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
  if (sameExceptTimes(old, object)) return { object: old, mayRetry: false }
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

/** Problems of the part that this request writes; other subresources are checked by whoever serves them. */
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
    // This one refusal names the resource where all others name the kind.
    throw invalid({ group: info.group, kind: info.plural }, name, errors)
  }
  if (!/^\d+$/.test(given)) {
    throw new StatusError(500, '', `strconv.ParseUint: parsing ${JSON.stringify(given)}: invalid syntax`)
  }
  if (given !== '0' && Number(given) !== live.revision) throw conflict(info, name)
}

/** 400 unless the metadata is that of the object which the URL names. */
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

/** Keeps what only the server may change, and refuses an object that is not the one of the URL. */
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

/** What is wrong with a patch of the uid; a replacement by an object with another uid is a conflict instead. */
function immutableUid(uid: string): readonly FieldError[] {
  const message = `Invalid value: ${JSON.stringify(uid)}: field is immutable`
  const error = { field: 'metadata.uid', reason: 'FieldValueInvalid', message } as const
  // Metadata is checked twice on an update, once for all kinds and once for the kind.
  return [error, error]
}

/** 409 for a write that is meant for an object with another uid. */
export function uidConflict(request: WriteRequest, given: string, actual: JsonValue | undefined): StatusError {
  const { info, name = '' } = request
  const kind = `${info.custom ? `${info.group}/` : ''}${info.plural}`
  // A dry run does not get as far as the storage that knows its own prefix.
  const key = `${request.dryRun ? '' : '/registry'}/${kind}/${objectKey(request.namespace, name)}`
  const failed = `Precondition failed: UID in precondition: ${given}, UID in object meta: ${String(actual)}`
  const error = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`
  return conflict(info, name, error)
}

/** With a status subresource, the object keeps its status and the status keeps its object. */
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

/** The status of a custom resource changes nothing else, although who tried to owns what they tried. */
function keepMetadata(object: JsonObject, old: JsonObject): void {
  const { managedFields } = metadataOf(object)
  object.metadata = { ...objectAt(old, 'metadata'), ...(managedFields !== undefined && { managedFields }) }
}

/** A Deployment's status may carry new annotations, but never labels. */
function keepLabels(request: WriteRequest, object: JsonObject, old: JsonObject): void {
  if (request.info.kind !== 'Deployment') return
  const { labels } = objectAt(old, 'metadata')
  if (labels === undefined) delete metadataOf(object).labels
  else metadataOf(object).labels = labels
}

function advanceGeneration(request: WriteRequest, strategy: KindStrategy, object: JsonObject, old: JsonObject): void {
  const before = objectAt(old, 'metadata').generation
  if (typeof before !== 'number') return
  // Assigning a pod to a node is no change of what its user wants.
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

/** Whether a deletion that waited for finalizers (or for a namespace's content) has nothing left to wait for. */
function isReadyToVanish(object: JsonObject): boolean {
  const metadata = objectAt(object, 'metadata')
  if (metadata.deletionTimestamp === undefined) return false
  if (arrayAt(metadata, 'finalizers').length > 0) return false
  const grace = metadata.deletionGracePeriodSeconds
  if (typeof grace === 'number' && grace > 0) return false
  return object.kind !== 'Namespace' || arrayAt(objectAt(object, 'spec'), 'finalizers').length === 0
}
