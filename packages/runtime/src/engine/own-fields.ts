/** Which fields of a live object the operator's own field manager owns. */
import type { KubeObject, ManagedFieldsEntry } from '@reeve/kube'
import type { FieldTree, FieldTreePool } from './field-tree.ts'

/** What the operator owns of one object, and how it came to own it. */
export interface OwnFields {
  /** `Apply` after a server-side apply; `Update` when the object is still as it was created. */
  readonly operation: 'Apply' | 'Update'
  readonly tree: FieldTree
}

/**
 * A cache transform that drops every manager's entry but the operator's own: ownership is what tells a removed
 * field from one that never was ours, and the other entries are most of an object's bytes.
 *
 * @example
 * cache.informer(Deployments, { transform: keepOwnFields('webapp-operator') })
 */
export function keepOwnFields(fieldManager: string): <T extends KubeObject>(object: T) => T {
  return (object) => {
    const { managedFields } = object.metadata
    if (managedFields === undefined) return object
    const own = managedFields.filter((entry) => isOwn(entry, fieldManager))
    return { ...object, metadata: { ...object.metadata, managedFields: own } }
  }
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
