/** Makes one object as desired, or prunes one: the only place where the engine writes. */
import {
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type Resource,
  type Stored,
} from '@reeve/kube'
import type { FieldDifference } from '../field-ownership/compare-fields.ts'
import { ownFields } from '../field-ownership/own-fields.ts'
import { StaleViewError } from '../runtime-error.ts'
import { desiredId } from './compared-objects.ts'
import type { DesiredObject } from './desired-object.ts'
import type { Leftover } from './leftovers.ts'
import { migrateToApply } from './migrate-ownership.ts'
import type { OwnerCheck } from './owner-check.ts'
import { keyOf, requireControl } from './ownership.ts'
import {
  type Action,
  CREATED_FROM,
  differencesOf,
  elsewhereOf,
  type PlanInput,
  planObject,
  planUpdate,
} from './plan.ts'

/** Something that was written. */
export interface Change {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly resource: Resource
  readonly object: Stored<KubeObject>
  /** Which fields an update changed. Values may be secret: for decisions and diffs, not for logs. */
  readonly differences: readonly FieldDifference[]
}

/** Everything {@link applyOne} needs. */
export interface ApplyInput extends PlanInput {
  readonly client: KubeClient
  /** Makes sure that the owner exists before anything is created for it. */
  readonly ownerCheck: OwnerCheck
  readonly signal: AbortSignal
}

/** The outcome for one object. */
export interface AppliedObject {
  /** Undefined when the object was as desired. */
  readonly change?: Change
  /** False while it is being deleted, or not ready by its own `isReady`. */
  readonly isReady: boolean
}

/**
 * Makes the live object the desired one.
 *
 * *Guarantees*: no write is made on an old view. A creation fails when the object exists, an update when the object
 * changed since it was seen (resourceVersion), a deletion when it is not the very object that was seen (uid and
 * resourceVersion); nothing is created for a deleted owner. May be interrupted after any write and
 * run again. An object that is as desired costs no request.
 *
 * *Errors*: `StaleViewError` when the view was stale (reconcile again); `InvalidDesiredStateError`, `NotControlledError` and
 * `AlreadyControlledError` when the object has another owner; the client's `ApiError`.
 *
 * @example
 * const { change } = await applyOne(desired(ConfigMaps, settings), { client, owner, view, fieldManager, trees, accepted, signal })
 */
export async function applyOne(desired: DesiredObject, input: ApplyInput): Promise<AppliedObject> {
  input.signal.throwIfAborted()
  const action = planObject(input, desired)
  switch (action.type) {
    case 'skip':
      return { isReady: true }
    case 'create-only': {
      const object = await create(input, desired, action.object)
      return { ...(object && { change: created(desired, object) }), isReady: true }
    }
    case 'create': {
      const object = await create(input, desired, action.object, action.unstamped)
      if (object === undefined) return perform(input, await planHidden(input, action))
      return { change: created(desired, object), isReady: isReady(desired, object) }
    }
    default:
      return perform(input, action)
  }
}

/** Writes what differs from an object that exists. */
async function perform(input: ApplyInput, action: Extract<Action, { readonly live: unknown }>): Promise<AppliedObject> {
  const { desired, live } = action
  const { resource } = desired
  switch (action.type) {
    case 'keep':
      return { isReady: isReady(desired, live) }
    case 'await-deletion':
      return { isReady: false }
    case 'set-fields': {
      const object = await setFields(input, action)
      if (object === undefined) return { isReady: isReady(desired, live) }
      return { change: { type: 'updated', resource, object, differences: [] }, isReady: isReady(desired, object) }
    }
    case 'update': {
      const object = await update(input, action)
      if (object === undefined) {
        return { change: { type: 'deleted', resource, object: live, differences: [] }, isReady: false }
      }
      // The server may find that nothing changes after all, for instance after its own rewrite.
      const isSame = object.metadata.resourceVersion === live.metadata.resourceVersion
      const change: Change = { type: 'updated', resource, object, differences: action.differences }
      return { ...(!isSame && { change }), isReady: isReady(desired, object) }
    }
  }
}

function created({ resource }: DesiredObject, object: Stored<KubeObject>): Change {
  return { type: 'created', resource, object, differences: [] }
}

const isReady = (desired: DesiredObject, live: Stored<KubeObject>): boolean => desired.isReady?.(live) ?? true

/**
 * Returns undefined when the object exists although the view does not show it.
 *
 * @param unstamped what later plans compare; absent for an object that is never compared
 */
async function create(
  input: ApplyInput,
  desired: DesiredObject,
  object: KubeObject,
  unstamped?: KubeObject,
): Promise<Stored<KubeObject> | undefined> {
  const { client, fieldManager, ownerCheck, signal } = input
  const check = await ownerCheck.beforeCreate(desired)
  try {
    const created = await client.create(desired.resource, object, { fieldManager, signal })
    check(created.metadata.resourceVersion)
    if (unstamped !== undefined) learn(input, desired, created, unstamped, object.metadata.annotations?.[CREATED_FROM])
    return created
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return undefined
  }
}

/**
 * The view does not contain an object that exists. Only the server knows why: either the view is stale, and the next event
 * shows the object; or the object is outside what the view selects, and waiting does not help. If it has another owner, that
 * is an error; if it lost the label by which the view selects it, it is updated based on its live state.
 */
async function planHidden(
  input: ApplyInput,
  { desired, unstamped: object }: Extract<Action, { type: 'create' }>,
): Promise<Extract<Action, { type: 'keep' | 'update' | 'await-deletion' }>> {
  const { client, owner, view, signal } = input
  const live = await client.get(desired.resource, keyOf(object), { signal }).catch((error: unknown) => {
    // Deleted again: the view was stale.
    if (isNotFound(error)) throw new StaleViewError(object, { cause: error })
    throw error
  })
  if (desired.onForeign === 'fail') requireControl(owner, live, elsewhereOf(input, desired))
  if (view.selects?.(desired.resource, live) ?? true) throw new StaleViewError(object)
  return planUpdate(input, desired, object, live)
}

async function setFields(
  input: ApplyInput,
  { desired, live, object }: Extract<Action, { type: 'set-fields' }>,
): Promise<Stored<KubeObject> | undefined> {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...content } = object
  const { name: _name, namespace: _namespace, ...given } = metadata
  const { metadata: more, ...others } = desired.along ?? {}
  const fields = {
    ...others,
    ...content,
    metadata: { ...(more as object | undefined), ...given, uid: live.metadata.uid },
  }
  // The uid, not the resourceVersion: the fields are the operator's, whatever other managers have changed meanwhile.
  return patchFields(input, desired.resource, live, fields)
}

async function update(
  input: ApplyInput,
  action: Extract<Action, { type: 'update' }>,
): Promise<Stored<KubeObject> | undefined> {
  const { client, fieldManager, signal } = input
  const { resource, onImmutable } = action.desired
  const { uid } = action.live.metadata
  let { resourceVersion } = action.live.metadata
  try {
    if (action.own?.operation === 'Update') {
      resourceVersion = await migrateToApply(client, resource, action.live, fieldManager, signal)
    }
    if (action.removal !== undefined) {
      const { metadata } = action.removal
      const guard = { ...(metadata as object | undefined), uid, resourceVersion }
      const patch = { ...action.removal, metadata: guard }
      const cleared = await client.patch(
        resource,
        keyOf(action.live),
        { type: 'merge', patch },
        { fieldManager, signal },
      )
      resourceVersion = cleared.metadata.resourceVersion
    }
    const guarded = { ...action.object, metadata: { ...action.object.metadata, uid, resourceVersion } }
    const applied = await client.apply(resource, guarded, { fieldManager, force: true, signal })
    learn(input, action.desired, applied, action.object)
    return applied
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) throw new StaleViewError(action.object, { cause: error })
    if (onImmutable === 'recreate' && isImmutableRefusal(error)) {
      const live = { ...action.live, metadata: { ...action.live.metadata, resourceVersion } }
      await prune(input, { resource, live })
      return undefined
    }
    throw error
  }
}

/**
 * Deletes an object, or removes the operator's fields from it.
 *
 * *Guarantees*: of the very object that was seen (uid and resourceVersion). *Errors*: `StaleViewError` when it is another
 * one; the client's `ApiError`.
 */
export async function prune(
  context: Pick<ApplyInput, 'client' | 'fieldManager' | 'signal'>,
  { resource, live, release }: Leftover,
): Promise<Change> {
  const { uid, resourceVersion } = live.metadata
  if (release !== undefined) {
    // With the resourceVersion: the fields may belong to another owner meanwhile.
    const fields = { ...release, metadata: { ...(release.metadata as object | undefined), uid, resourceVersion } }
    const object = await patchFields(context, resource, live, fields)
    return { type: 'updated', resource, object: object ?? live, differences: [] }
  }
  try {
    await context.client.delete(resource, keyOf(live), {
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Background',
      signal: context.signal,
    })
  } catch (error) {
    if (isConflict(error)) throw new StaleViewError(live, { cause: error })
    // Already deleted, as intended.
    if (!isNotFound(error)) throw error
  }
  return { type: 'deleted', resource, object: live, differences: [] }
}

/** Returns undefined when the object no longer exists: there is nothing to do. */
async function patchFields(
  { client, fieldManager, signal }: Pick<ApplyInput, 'client' | 'fieldManager' | 'signal'>,
  resource: Resource,
  live: Stored<KubeObject>,
  fields: Readonly<Record<string, unknown>>,
): Promise<Stored<KubeObject> | undefined> {
  try {
    return await client.patch(resource, keyOf(live), { type: 'merge', patch: fields }, { fieldManager, signal })
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isConflict(error)) throw new StaleViewError(live, { cause: error })
    throw error
  }
}

/**
 * What still differs right after the server accepted a write is the server's own rewriting.
 *
 * @param object what was desired
 * @param stamp the digest of `object`, if it was sent along
 */
function learn(
  input: ApplyInput,
  { resource, sole = [] }: DesiredObject,
  written: Stored<KubeObject>,
  object: KubeObject,
  stamp?: string,
): void {
  const { view, fieldManager, trees, accepted, compared } = input
  const cached = view.get(resource, keyOf(written))
  // The next plan looks at the object of the view, not at the response.
  const live = cached?.metadata.resourceVersion === written.metadata.resourceVersion ? cached : written
  const differences = differencesOf(object, live, ownFields(live, fieldManager, trees), stamp)
  accepted.accept(live, object, differences)
  // Entries of others in fields that only the operator owns are removed by the next plan, which has to see them.
  if (differences.length === 0 && sole.length === 0) compared.remember(live, desiredId(object, sole))
}

function isImmutableRefusal(error: unknown): boolean {
  if (!isInvalid(error)) return false
  return error.causes.some((cause) =>
    /immutable|may not change once set|updates to .* are forbidden/i.test(cause.message ?? ''),
  )
}
