/** The fields of a live object that the operator's field manager owns. */
import { apiVersionOf, type KubeObject, type ManagedFieldsEntry, type Resource } from '@reeve/kube'
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
    const { managedFields: _, ...metadata } = object.metadata
    return { ...object, metadata: own.length === 0 ? metadata : { ...metadata, managedFields: own } }
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

/**
 * Whether a cache transform keeps the operator's own entry of managedFields. Tries it on an object that has nothing but
 * its identity and that entry.
 */
export function keepsOwnFields(
  transform: <T extends KubeObject>(object: T) => T,
  fieldManager: string,
  resource: Resource,
): boolean {
  const probe: KubeObject = {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      name: 'probe',
      ...(resource.namespaced && { namespace: 'probe' }),
      uid: 'probe',
      resourceVersion: '1',
      managedFields: [{ manager: fieldManager, operation: 'Apply', fieldsV1: { 'f:metadata': {} } }],
    },
  }
  return transform(probe).metadata.managedFields?.some(({ manager }) => manager === fieldManager) ?? false
}

function isOwn(entry: ManagedFieldsEntry, fieldManager: string): boolean {
  return entry.manager === fieldManager && (entry.subresource ?? '') === ''
}
