/** Executes a plan: the only place where the engine writes. */
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
import type { AcceptedDifferences } from './accepted-differences.ts'
import type { FieldDifference } from './compare-fields.ts'
import { type ComparedObjects, desiredId } from './compared-objects.ts'
import type { DesiredObject } from './desired-object.ts'
import { FieldConflictError, StaleViewError } from './engine-error.ts'
import type { FieldTreePool } from './field-tree.ts'
import type { LiveView } from './live-view.ts'
import { migrateToApply } from './migrate-ownership.ts'
import { ownFields } from './own-fields.ts'
import type { OwnerCheck } from './owner-check.ts'
import { keyOf, type OwnedElsewhere, requireControl } from './ownership.ts'
import { type Action, CREATED_FROM, differencesOf, elsewhereOf, planUpdate } from './plan.ts'

/** Something that was written. */
export interface Change {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly resource: Resource
  readonly object: Stored<KubeObject>
  /** Which fields an update changed. Values may be secret: for decisions and diffs, not for logs. */
  readonly differences: readonly FieldDifference[]
}

/** The outcome of a plan. */
export interface ApplyResult {
  readonly changes: readonly Change[]
  /** Objects that the next wave waits for; empty when every wave was written. */
  readonly waitingFor: readonly KubeObject[]
}

/** Everything {@link applyPlan} needs. */
export interface ApplyInput {
  readonly client: KubeClient
  /** Whose objects these are. */
  readonly owner: Stored<KubeObject>
  /** With it the owner is known to exist before anything is created for it. */
  readonly ownerCheck?: OwnerCheck
  readonly actions: readonly Action[]
  /** The view that the plan was computed from. */
  readonly view: LiveView
  readonly elsewhere?: readonly OwnedElsewhere[]
  readonly fieldManager: string
  /** `force` takes fields over from other managers, `fail` throws a FieldConflictError. */
  readonly conflicts: 'force' | 'fail'
  readonly trees: FieldTreePool
  readonly accepted: AcceptedDifferences
  /** Remembers what was written, so that the next plan need not compare it. @default nothing is remembered */
  readonly compared?: ComparedObjects
  readonly signal: AbortSignal
}

/**
 * Writes what the plan says, wave by wave, and prunes at the end.
 *
 * *Guarantees*: no write is made on an old view. A creation fails when the object exists, an update when the object
 * changed since it was seen (resourceVersion), a deletion when it is not the very object that was seen (uid and
 * resourceVersion); nothing is created for a deleted owner (with `ownerCheck`). May be interrupted after any write and
 * run again. An action of type `keep` costs no request.
 *
 * *Errors*: `StaleViewError` when the view was stale (reconcile again), `NotControlledError` and `AlreadyControlledError` when
 * an object that the view does not contain has another owner, `FieldConflictError`, and the client's `ApiError`.
 *
 * @example
 * const { changes } = await applyPlan({ client, owner, actions, fieldManager, conflicts: 'force', trees, accepted, signal })
 */
export async function applyPlan(input: ApplyInput): Promise<ApplyResult> {
  const changes: Change[] = []
  const waiting: { readonly wave: number; readonly object: KubeObject }[] = []
  for (const action of input.actions) {
    input.signal.throwIfAborted()
    if (action.type === 'prune') {
      // A later wave may still need what an earlier one stops wanting: prune only when all waves are through.
      if (waiting.length === 0) changes.push(await prune(input, action))
      continue
    }
    if (action.type === 'skip') continue
    const { wave } = action.desired
    if (waiting.some((earlier) => earlier.wave < wave)) continue
    if (action.type === 'create-only') {
      const { desired, object: wanted } = action
      const object = await create(input, desired, wanted)
      if (object !== undefined) changes.push({ type: 'created', resource: desired.resource, object, differences: [] })
      continue
    }
    const live = await perform(input, action, changes)
    if (live === undefined || !(action.desired.isReady?.(live) ?? true))
      waiting.push({ wave, object: action.desired.object })
  }
  return { changes, waitingFor: waiting.map(({ object }) => object) }
}

/** Returns the live object, or `undefined` while it is being deleted. */
async function perform(
  input: ApplyInput,
  action: Exclude<Action, { type: 'prune' | 'skip' | 'create-only' }>,
  changes: Change[],
): Promise<Stored<KubeObject> | undefined> {
  const { resource } = action.desired
  switch (action.type) {
    case 'keep':
      return action.live
    case 'await-deletion':
      return undefined
    case 'create': {
      const created = await create(input, action.desired, action.object, action.unstamped)
      if (created !== undefined) {
        changes.push({ type: 'created', resource, object: created, differences: [] })
        return created
      }
      return perform(input, await planHidden(input, action), changes)
    }
    case 'set-fields': {
      const object = await setFields(input, action)
      if (object !== undefined) changes.push({ type: 'updated', resource, object, differences: [] })
      return object ?? action.live
    }
    case 'update': {
      const object = await update(input, action)
      if (object === undefined) {
        changes.push({ type: 'deleted', resource, object: action.live, differences: [] })
        return undefined
      }
      // The server may find that nothing changes after all, for instance after its own rewrite.
      if (object.metadata.resourceVersion !== action.live.metadata.resourceVersion) {
        changes.push({ type: 'updated', resource, object, differences: action.differences })
      }
      return object
    }
  }
}

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
  const check = await ownerCheck?.beforeCreate(desired)
  try {
    const created = await client.create(desired.resource, object, { fieldManager, signal })
    check?.(created.metadata.resourceVersion)
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
  { client, fieldManager, signal }: ApplyInput,
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
  return patchFields(client, desired.resource, live, fields, { fieldManager, signal })
}

/** Returns undefined when the object no longer exists: there is nothing to do. */
async function patchFields(
  client: KubeClient,
  resource: Resource,
  live: Stored<KubeObject>,
  fields: Readonly<Record<string, unknown>>,
  options: { readonly fieldManager: string; readonly signal: AbortSignal },
): Promise<Stored<KubeObject> | undefined> {
  try {
    return await client.patch(resource, keyOf(live), { type: 'merge', patch: fields }, options)
  } catch (error) {
    if (isNotFound(error)) return undefined
    if (isConflict(error)) throw new StaleViewError(live, { cause: error })
    throw error
  }
}

async function update(
  input: ApplyInput,
  action: Extract<Action, { type: 'update' }>,
): Promise<Stored<KubeObject> | undefined> {
  const { client, fieldManager, signal, conflicts } = input
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
    const applied = await client.apply(resource, guarded, { fieldManager, force: conflicts === 'force', signal })
    learn(input, action.desired, applied, action.object)
    return applied
  } catch (error) {
    const fields = conflictingFields(error)
    if (fields.length > 0) throw new FieldConflictError(action.object, fields, { cause: error })
    if (isConflict(error) || isNotFound(error)) throw new StaleViewError(action.object, { cause: error })
    if (onImmutable === 'recreate' && isImmutableRefusal(error)) {
      const live = { ...action.live, metadata: { ...action.live.metadata, resourceVersion } }
      await prune(input, { type: 'prune', resource, live })
      return undefined
    }
    throw error
  }
}

/**
 * Deletes an object, or removes the operator's fields from it.
 *
 * *Errors*: `StaleViewError` when it is not the object that was seen; the client's `ApiError`.
 */
export async function prune(
  { client, fieldManager, signal }: Pick<ApplyInput, 'client' | 'fieldManager' | 'signal'>,
  { resource, live, release }: Extract<Action, { type: 'prune' }>,
): Promise<Change> {
  if (release !== undefined) {
    const { uid, resourceVersion } = live.metadata
    // With the resourceVersion: the fields may belong to another owner meanwhile.
    const fields = { ...release, metadata: { ...(release.metadata as object | undefined), uid, resourceVersion } }
    const object = await patchFields(client, resource, live, fields, { fieldManager, signal })
    return { type: 'updated', resource, object: object ?? live, differences: [] }
  }
  const { uid, resourceVersion } = live.metadata
  try {
    await client.delete(resource, keyOf(live), {
      preconditions: { uid, resourceVersion },
      propagationPolicy: 'Background',
      signal,
    })
  } catch (error) {
    if (isConflict(error)) throw new StaleViewError(live, { cause: error })
    // Already deleted, as intended.
    if (!isNotFound(error)) throw error
  }
  return { type: 'deleted', resource, object: live, differences: [] }
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
  if (differences.length === 0 && sole.length === 0) compared?.remember(live, desiredId(object, sole))
}

function conflictingFields(error: unknown): readonly string[] {
  if (!isConflict(error)) return []
  return error.causes.flatMap((cause) =>
    cause.reason === 'FieldManagerConflict' && cause.field !== undefined ? [cause.field] : [],
  )
}

function isImmutableRefusal(error: unknown): boolean {
  if (!isInvalid(error)) return false
  return error.causes.some((cause) =>
    /immutable|may not change once set|updates to .* are forbidden/i.test(cause.message ?? ''),
  )
}
