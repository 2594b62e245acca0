/** The effect of a change on the managers that own the fields of an object. */
import type { JsonObject } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { compareValues, type Difference } from './compare.ts'
import {
  differenceOf,
  type FieldSet,
  fieldSetOf,
  intersectionOf,
  isEmptyFieldSet,
  recursiveDifferenceOf,
  unionOf,
} from './field-set.ts'
import { type ManagerEntry, type Managers, withoutEmptyEntries } from './managed-fields.ts'
import { fieldElement } from './path-element.ts'

/** Fields that are never owned: the identity of the object and fields that the server maintains. */
const neverOwned: FieldSet = fieldSetOf(
  [
    ['apiVersion'],
    ['kind'],
    ['metadata'],
    ...[
      'name',
      'namespace',
      'creationTimestamp',
      'selfLink',
      'uid',
      'clusterName',
      'generation',
      'managedFields',
      'resourceVersion',
    ].map((name) => ['metadata', name]),
  ].map((path) => path.map(fieldElement)),
)

/** A field path as plain names, such as `['metadata', 'labels']`. */
export type FieldNames = readonly string[]

/**
 * The fields that a request to this endpoint cannot change, so that their ownership is not recorded: `status` on the
 * main resource if it has a status subresource, `spec` on that subresource.
 */
export function resetFieldsFor(endpoint: {
  readonly subresource: string | undefined
  readonly hasStatusSubresource: boolean
  readonly custom?: boolean
  readonly kind?: string
}): readonly FieldNames[] {
  if (endpoint.subresource !== 'status') return endpoint.hasStatusSubresource ? [['status']] : []
  const isDeployment = endpoint.kind === 'Deployment' && endpoint.custom !== true
  return isDeployment ? [['spec'], ['metadata', 'labels']] : [['spec']]
}

/** The given fields, or by default those of a kind with a status subresource. */
export function resetFieldSet(
  resetFields: readonly FieldNames[] | undefined,
  object: JsonObject,
  subresource: string | undefined,
): FieldSet {
  const custom = object.apiVersion !== 'apps/v1'
  const paths =
    resetFields ?? resetFieldsFor({ kind: String(object.kind), custom, subresource, hasStatusSubresource: true })
  return fieldSetOf(paths.map((path) => path.map(fieldElement)))
}

/** The part of `set` that may be recorded. */
export function recordable(set: FieldSet, reset: FieldSet): FieldSet {
  return differenceOf(recursiveDifferenceOf(set, reset), neverOwned)
}

/** Compares two states, ignoring fields that the endpoint cannot change. */
export function differenceFor(type: Schema, live: JsonObject, next: JsonObject, reset: FieldSet): Difference {
  const { changed, removed } = compareValues(type, live, next)
  return { changed: recursiveDifferenceOf(changed, reset), removed: recursiveDifferenceOf(removed, reset) }
}

/** Fields of another manager that a change modifies. */
export interface Conflict {
  readonly entry: ManagerEntry
  readonly fields: FieldSet
}

/** The fields of managers other than `self` that the change sets to another value. */
export function conflictsWith(managers: Managers, self: string | undefined, difference: Difference): Conflict[] {
  const conflicts: Conflict[] = []
  for (const [identity, entry] of managers) {
    if (identity === self) continue
    const fields = intersectionOf(entry.fields, difference.changed)
    if (!isEmptyFieldSet(fields)) conflicts.push({ entry, fields })
  }
  return conflicts
}

/** Removes changed and removed fields from every manager except `self`; managers without fields are dropped. */
export function releaseFields(
  managers: Managers,
  self: string | undefined,
  difference: Difference,
): Map<string, ManagerEntry> {
  const lost = unionOf(difference.changed, difference.removed)
  const kept = new Map<string, ManagerEntry>()
  for (const [identity, entry] of managers) {
    const fields = identity === self ? entry.fields : differenceOf(entry.fields, lost)
    kept.set(identity, fields === entry.fields ? entry : { ...entry, fields })
  }
  return withoutEmptyEntries(kept)
}
