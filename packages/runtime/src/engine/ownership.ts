/** Ownership of objects: by owner reference where possible, by a label in other namespaces. */
import type { KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { AlreadyControlledError, controllerOf, withControllerReference } from '../owner-references/owner-reference.ts'
import { NotControlledError } from './engine-error.ts'

/**
 * Objects of a kind that a resource has in other namespaces, or in none. An owner reference cannot cross namespaces, so
 * a label says whose they are, and it follows from the key of the resource: they are still found when that is deleted.
 */
export interface OwnedElsewhere {
  readonly resource: Resource
  readonly label: string
  /** The value of the label for a resource. At most 63 characters. */
  labelValue(key: ObjectKey): string
  /** Whether an object with the label is one of these; for labels that other tools use as well. @default all are */
  includes?(object: Stored<KubeObject>): boolean
  /**
   * Whether an object that is not desired may be pruned; asked while its owner exists. Where the desired objects follow
   * from other objects, such as the namespaces that exist, an old view of those must not delete what it does not show
   * yet. @default it may
   */
  isPrunable?(object: Stored<KubeObject>, view: Pick<CacheReader, 'get'>): boolean
  /**
   * For objects that are not the operator's own, such as namespaces: the merge patch that takes the operator's fields
   * away again. @default the object is deleted
   */
  release?(object: Stored<KubeObject>): Readonly<Record<string, unknown>>
}

/** Whether the garbage collector can follow an owner reference from `object` to `owner`. */
export function canReference(owner: KubeObject, object: KubeObject): boolean {
  const { namespace } = owner.metadata
  return namespace === undefined || namespace === object.metadata.namespace
}

/**
 * The object, marked as belonging to `owner`.
 *
 * *Errors*: `CrossNamespaceOwnerError` for an object elsewhere whose kind is not declared, `AlreadyControlledError`.
 */
export function claim<T extends KubeObject>(
  owner: Stored<KubeObject>,
  object: T,
  elsewhere: OwnedElsewhere | undefined,
): T {
  if (elsewhere === undefined || canReference(owner, object)) return withControllerReference(owner, object)
  const labels = { ...object.metadata.labels, [elsewhere.label]: elsewhere.labelValue(keyOf(owner)) }
  return { ...object, metadata: { ...object.metadata, labels } }
}

/**
 * Rejects an object that another owner created or controls.
 *
 * *Errors*: `NotControlledError`, `AlreadyControlledError`.
 */
export function requireControl(
  owner: Stored<KubeObject>,
  live: Stored<KubeObject>,
  elsewhere?: OwnedElsewhere | undefined,
): void {
  if (elsewhere !== undefined && !canReference(owner, live)) {
    if (live.metadata.labels?.[elsewhere.label] !== elsewhere.labelValue(keyOf(owner))) {
      throw new NotControlledError(owner, live)
    }
    return
  }
  const controller = controllerOf(live)
  if (controller === undefined) throw new NotControlledError(owner, live)
  if (controller.uid !== owner.metadata.uid) throw new AlreadyControlledError(owner, live, controller)
}

/** The key of an object that is known to have a name. */
export function keyOf(object: KubeObject): { readonly name: string; readonly namespace?: string } {
  const { name, namespace } = object.metadata
  if (name === undefined) throw new Error(`a ${object.kind} has no name`)
  return namespace === undefined ? { name } : { name, namespace }
}
