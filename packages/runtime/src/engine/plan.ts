/** Decides what to do about one desired object, from its live state. Pure. */
import type { KubeObject, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { compareFields, type FieldDifference } from '../field-ownership/compare-fields.ts'
import type { FieldTreePool } from '../field-ownership/field-tree.ts'
import { type OwnFields, ownFields } from '../field-ownership/own-fields.ts'
import { digest } from '../json/json-equal.ts'
import { describeObject, RuntimeError } from '../runtime-error.ts'
import type { AcceptedDifferences } from './accepted-differences.ts'
import { type ComparedObjects, desiredId } from './compared-objects.ts'
import { type DesiredObject, InvalidDesiredStateError } from './desired-object.ts'
import { canReference, claim, keyOf, type OwnedElsewhere, requireControl } from './ownership.ts'
import { isPartOf, withoutForeignEntries } from './sole-fields.ts'

/** On objects as they were created: a digest of what was desired then. The first apply removes it. */
export const CREATED_FROM = 'reeve.dev/created-from'

/** What to do about a desired object. `object` is what would be sent. */
export type Action =
  | {
      readonly type: 'create'
      readonly desired: DesiredObject
      readonly object: KubeObject
      /** The same without the annotation {@link CREATED_FROM}. */
      readonly unstamped: KubeObject
    }
  /** See `createOnly`. */
  | { readonly type: 'create-only'; readonly desired: DesiredObject; readonly object: KubeObject }
  | {
      readonly type: 'update'
      readonly desired: DesiredObject
      readonly object: KubeObject
      readonly live: Stored<KubeObject>
      readonly own: OwnFields | undefined
      readonly differences: readonly FieldDifference[]
      /** A merge patch that removes what other managers added to fields that only the operator owns. */
      readonly removal?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'keep'; readonly desired: DesiredObject; readonly live: Stored<KubeObject> }
  /** Some fields of an object that is not the operator's own: see `fieldsOnly`. */
  | {
      readonly type: 'set-fields'
      readonly desired: DesiredObject
      readonly object: KubeObject
      readonly live: Stored<KubeObject>
    }
  /** The old object is being deleted; its deletion event causes the next reconcile. */
  | { readonly type: 'await-deletion'; readonly desired: DesiredObject; readonly live: Stored<KubeObject> }
  /** Fields for an object that does not exist. */
  | { readonly type: 'skip'; readonly desired: DesiredObject }

/** The input of {@link planObject}. */
export interface PlanInput {
  readonly owner: Stored<KubeObject>
  /** What may be desired outside the namespace of the owner. */
  readonly elsewhere: readonly OwnedElsewhere[]
  readonly view: CacheReader
  readonly fieldManager: string
  readonly trees: FieldTreePool
  readonly accepted: AcceptedDifferences
  /** Remembers results of earlier plans, and what was written. */
  readonly compared: ComparedObjects
}

/**
 * The action that makes the live object the desired one.
 *
 * *Guarantees*: pure; an object that already carries every desired field is a `keep`. *Errors*:
 * `InvalidDesiredStateError`, `NotControlledError` and `AlreadyControlledError`: an object that another owner created
 * or controls is never adopted.
 */
export function planObject(input: PlanInput, wanted: DesiredObject): Action {
  const { owner, view } = input
  if (wanted.createOnly) return { type: 'create-only', desired: wanted, object: wanted.object }
  const elsewhere = elsewhereOf(input, wanted)
  const object = wanted.fieldsOnly ? wanted.object : claim(owner, wanted.object, elsewhere)
  requireVisible(view, wanted, object)
  const live = view.get(wanted.resource, keyOf(object))
  if (wanted.fieldsOnly) return planFields(wanted, live)
  if (live === undefined) return { type: 'create', desired: wanted, object: stamped(object), unstamped: object }
  if (wanted.onForeign === 'fail') requireControl(owner, live, elsewhere)
  return planUpdate(input, wanted, object, live)
}

/** The action for a live object of the owner. */
export function planUpdate(
  input: Pick<PlanInput, 'fieldManager' | 'trees' | 'accepted' | 'compared'>,
  wanted: DesiredObject,
  object: KubeObject,
  live: Stored<KubeObject>,
): Extract<Action, { type: 'keep' | 'update' | 'await-deletion' }> {
  if (live.metadata.deletionTimestamp !== undefined) return { type: 'await-deletion', desired: wanted, live }
  const { sole = [] } = wanted
  const id = desiredId(object, sole)
  if (input.compared.isCurrent(live, id)) return { type: 'keep', desired: wanted, live }
  const own = ownFields(live, input.fieldManager, input.trees)
  const differences = differencesOf(object, live, own)
  const removal = withoutForeignEntries(object, live, sole)
  if (differences.length === 0 && removal === undefined) input.compared.remember(live, id)
  const isSame = differences.length === 0 || input.accepted.covers(live, object, differences)
  if (isSame && removal === undefined) return { type: 'keep', desired: wanted, live }
  return { type: 'update', desired: wanted, object, live, own, differences, ...(removal && { removal }) }
}

function planFields(
  wanted: DesiredObject,
  live: Stored<KubeObject> | undefined,
): Extract<Action, { type: 'keep' | 'skip' | 'set-fields' }> {
  if (live === undefined || live.metadata.deletionTimestamp !== undefined) return { type: 'skip', desired: wanted }
  if (isPartOf(wanted.object, live)) return { type: 'keep', desired: wanted, live }
  return { type: 'set-fields', desired: wanted, object: wanted.object, live }
}

export function elsewhereOf(
  { elsewhere, owner }: Pick<PlanInput, 'elsewhere' | 'owner'>,
  { resource, object }: DesiredObject,
): OwnedElsewhere | undefined {
  if (canReference(owner, object)) return undefined
  return elsewhere.find((known) => known.resource.kind === resource.kind && known.resource.group === resource.group)
}

/** An object that the cache does not select would be created again in every reconcile. */
function requireVisible(view: CacheReader, { resource }: DesiredObject, object: KubeObject): void {
  if (view.selects(resource, object)) return
  if (!isWatched(view, resource)) {
    throw new InvalidDesiredStateError(
      `${describeObject(object)} is rendered, but owns lacks ${resource.plural}: add it`,
    )
  }
  throw new InvalidDesiredStateError(
    `${describeObject(object)} is not selected by the informer of ${resource.plural}: add the labels that the ` +
      'selector in owns requires, or widen the selector',
  )
}

function isWatched(view: CacheReader, resource: Resource): boolean {
  try {
    view.ownedBy(resource, '')
    return true
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'NOT_CACHED') return false
    throw error
  }
}

/**
 * An object as created is owned with all the defaults that the server added, so ownership alone cannot distinguish a
 * default from a field that is no longer desired. The digest can: it says that the same state was desired then.
 *
 * @param stamp the digest of `object`, if it is known
 */
export function differencesOf(
  object: KubeObject,
  live: Stored<KubeObject>,
  own: OwnFields | undefined,
  stamp?: string,
): readonly FieldDifference[] {
  if (own?.operation !== 'Update') return compareFields(object, live, own)
  const isAsCreated = live.metadata.annotations?.[CREATED_FROM] === (stamp ?? digest(object))
  return compareFields(object, live, own, isAsCreated ? 'as-created' : 'apply')
}

function stamped(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, [CREATED_FROM]: digest(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}
