/** Decides what to do, without doing it: the difference between the desired and the live state as a list of actions. */
import type { KubeObject, Resource, Stored } from '@reeve/kube'
import { AlreadyControlledError, controllerOf, withControllerReference } from '../owner-references/owner-reference.ts'
import type { AcceptedDifferences } from './accepted-differences.ts'
import { compareFields, type FieldDifference } from './compare-fields.ts'
import { checkDesired, type DesiredObject, describeObject, identityOf } from './desired-object.ts'
import { NotControlledError } from './engine-error.ts'
import type { FieldTreePool } from './field-tree.ts'
import { digest } from './json-equal.ts'
import type { LiveView } from './live-view.ts'
import { type OwnFields, ownFields } from './own-fields.ts'
import { withoutForeignEntries } from './sole-fields.ts'

/** On objects as they were created: a digest of what was desired then. The first apply removes it. */
export const CREATED_FROM = 'reeve.dev/created-from'

/** One step of a plan. `object` is what would be sent. */
export type Action =
  | { readonly type: 'create'; readonly desired: DesiredObject; readonly object: KubeObject }
  | {
      readonly type: 'update'
      readonly desired: DesiredObject
      readonly object: KubeObject
      readonly live: Stored<KubeObject>
      readonly own: OwnFields | undefined
      readonly differences: readonly FieldDifference[]
      /** A merge patch that removes what others added to fields that are the operator's alone. */
      readonly removal?: Readonly<Record<string, unknown>>
    }
  | { readonly type: 'keep'; readonly desired: DesiredObject; readonly live: Stored<KubeObject> }
  /** The old incarnation is on its way out; its end wakes the controller again. */
  | { readonly type: 'await-deletion'; readonly desired: DesiredObject; readonly live: Stored<KubeObject> }
  | { readonly type: 'prune'; readonly resource: Resource; readonly live: Stored<KubeObject> }

/** Everything {@link planDesired} looks at. */
export interface PlanInput {
  readonly owner: Stored<KubeObject>
  readonly desired: readonly DesiredObject[]
  /** The kinds that are pruned: an object of these, controlled by the owner and not desired, goes. */
  readonly kinds: readonly Resource[]
  readonly view: LiveView
  readonly fieldManager: string
  readonly trees: FieldTreePool
  readonly accepted: AcceptedDifferences
}

/**
 * The actions that make the live state the desired one, in the order of their waves; pruning comes last.
 *
 * *Guarantees*: pure; an object that already carries every desired field appears as `keep`. *Errors*:
 * `InvalidDesiredStateError`, `NotControlledError` and `AlreadyControlledError`: an object that somebody else made or
 * controls is never taken over.
 *
 * @example
 * const actions = planDesired({ owner, desired, kinds: [Deployments, Services], view, fieldManager, trees, accepted })
 */
export function planDesired(input: PlanInput): readonly Action[] {
  checkDesired(input.desired)
  const actions = input.desired
    .map((wanted, index) => ({ action: planOne(input, wanted), index }))
    .sort((left, right) => left.action.desired.wave - right.action.desired.wave || left.index - right.index)
    .map(({ action }): Action => action)
  return [...actions, ...planPruning(input)]
}

function planOne(input: PlanInput, wanted: DesiredObject): Exclude<Action, { type: 'prune' }> {
  const object = withControllerReference(input.owner, wanted.object)
  const live = input.view.get(wanted.resource, keyOf(object))
  if (live === undefined) return { type: 'create', desired: wanted, object: stamped(object) }
  requireControl(input.owner, live)
  if (live.metadata.deletionTimestamp !== undefined) return { type: 'await-deletion', desired: wanted, live }
  const own = ownFields(live, input.fieldManager, input.trees)
  const differences = differencesOf(object, live, own)
  const removal = withoutForeignEntries(object, live, wanted.sole ?? [])
  const isSame = differences.length === 0 || input.accepted.covers(live, object, differences)
  if (isSame && removal === undefined) return { type: 'keep', desired: wanted, live }
  return { type: 'update', desired: wanted, object, live, own, differences, ...(removal && { removal }) }
}

/**
 * An object as created is owned with all the defaults that the server added, so ownership alone cannot tell a
 * default from a field that is no longer desired. The digest can: it says that the same state was desired then.
 */
export function differencesOf(
  object: KubeObject,
  live: Stored<KubeObject>,
  own: OwnFields | undefined,
): readonly FieldDifference[] {
  if (own?.operation !== 'Update') return compareFields(object, live, own)
  const isAsCreated = live.metadata.annotations?.[CREATED_FROM] === digest(object)
  return compareFields(object, live, own, isAsCreated)
}

function stamped(object: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, [CREATED_FROM]: digest(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

/**
 * Refuses an object that somebody else made or controls.
 *
 * *Errors*: `NotControlledError`, `AlreadyControlledError`.
 */
export function requireControl(owner: Stored<KubeObject>, live: Stored<KubeObject>): void {
  const controller = controllerOf(live)
  if (controller === undefined) throw new NotControlledError(owner, live)
  if (controller.uid !== owner.metadata.uid) throw new AlreadyControlledError(owner, live, controller)
}

/**
 * The deletions that make the live state the desired one: what the owner controls of `kinds` and does not want.
 *
 * @example
 * const deletions = planPruning(input).filter(({ live }) => !isRetained(live))
 */
export function planPruning(
  input: Pick<PlanInput, 'desired' | 'kinds' | 'view' | 'owner'>,
): readonly Extract<Action, { readonly type: 'prune' }>[] {
  const wanted = new Set(input.desired.map(({ resource, object }) => identityOf(resource, object)))
  return input.kinds.flatMap((resource) =>
    input.view
      .ownedBy(resource, input.owner.metadata.uid)
      .filter((live) => live.metadata.deletionTimestamp === undefined && !wanted.has(identityOf(resource, live)))
      .map((live) => ({ type: 'prune', resource, live }) as const),
  )
}

/** The key of an object that is known to have a name. */
export function keyOf(object: KubeObject): { readonly name: string; readonly namespace?: string } {
  const { name, namespace } = object.metadata
  if (name === undefined) throw new Error(`${describeObject(object)} has no name`)
  return namespace === undefined ? { name } : { name, namespace }
}
