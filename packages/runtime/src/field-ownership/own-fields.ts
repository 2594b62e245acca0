/** The fields of a live object that the operator's field manager owns. */
import type { KubeObject, ManagedFieldsEntry } from '@reeve/kube'
import type { FieldTree, FieldTreePool } from './field-tree.ts'

/** What the operator owns of one object, and how it came to own it. */
export interface OwnFields {
  /** `Apply` after a server-side apply; `Update` when the object is still as it was created. */
  readonly operation: 'Apply' | 'Update'
  readonly tree: FieldTree
}

/**
 * A copy of `reduced` with the operator's own entries of `whole.metadata.managedFields` and no others: ownership is what
 * tells a removed field from one that never was the operator's, and the other entries are most of an object's bytes.
 *
 * @param reduced what a cache keeps of `whole`
 *
 * @example
 * const kept = withOwnEntries(deployment, deployment, 'webapp-operator')
 */
export function withOwnEntries<T extends KubeObject>(reduced: T, whole: KubeObject, fieldManager: string): T {
  const own = (whole.metadata.managedFields ?? []).filter((entry) => isOwn(entry, fieldManager))
  if (own.length === 0 && reduced.metadata.managedFields === undefined) return reduced
  const { managedFields: _, ...metadata } = reduced.metadata
  return { ...reduced, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: own } }
}

/**
 * Reads the operator's own fields from a live object; `undefined` when it owns none.
 *
 * @example
 * const own = ownFields(deployment, 'webapp-operator', trees)
 */
export function ownFields(object: KubeObject, fieldManager: string, trees: FieldTreePool): OwnFields | undefined {
  const entries = (object.metadata.managedFields ?? []).filter((entry) => isOwn(entry, fieldManager))
  const entry = entries.find(({ operation }) => operation === 'Apply') ?? entries[0]
  if (entry === undefined) return undefined
  return { operation: entry.operation === 'Apply' ? 'Apply' : 'Update', tree: trees.intern(entry.fieldsV1) }
}

function isOwn(entry: ManagedFieldsEntry, fieldManager: string): boolean {
  return entry.manager === fieldManager && (entry.subresource ?? '') === ''
}
