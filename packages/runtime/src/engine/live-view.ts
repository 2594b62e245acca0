/** The engine's view of the cluster. Reads come from a cache and cost no request. */
import type { KubeObject, ObjectKey, Resource, Stored } from '@reeve/kube'

/**
 * A view of the live objects that includes the operator's own last writes.
 */
export interface LiveView {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Stored<T> | undefined
  /** Every object of the kind that `owner` controls. */
  ownedBy<T extends KubeObject>(resource: Resource<T>, ownerUid: string): readonly Stored<T>[]
  /** The objects with a label; needed for what an owner has in other namespaces. */
  list?<T extends KubeObject>(
    resource: Resource<T>,
    options?: { readonly namespace?: string; readonly labelSelector?: string },
  ): readonly Stored<T>[]
  /**
   * Whether an object like this would be in view once it exists. False for one without the labels that an informer
   * selects by. @default everything is in view
   */
  selects?<T extends KubeObject>(resource: Resource<T>, object: KubeObject): boolean
  /**
   * Whether objects carry the managedFields entry of this field manager. Without it the engine could not tell a removed
   * field from one that was never its own, and would write every object in every reconcile. @default they do
   */
  keepsOwnFields?(resource: Resource, fieldManager: string): boolean
  /**
   * The resourceVersion at which `owner` is known to exist, if objects of the kind `absent` in `namespace` that are not in
   * view were already absent then. Undefined if the view of the owner is older, or does not tell.
   */
  provenAt?(
    of: Resource,
    owner: Stored<KubeObject>,
    absent: Resource,
    namespace: string | undefined,
  ): string | undefined
}
