/** Types that all Kubernetes objects share. */

/** The controller or another owner of an object; used by the garbage collector. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** One field manager's share of an object. */
export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: Readonly<Record<string, unknown>>
  readonly subresource?: string
}

/** Metadata of an object. */
export interface ObjectMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** Any object in a request: metadata may be partial. */
export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** An object with additional untyped fields. */
export interface UnknownObject extends KubeObject {
  readonly [field: string]: unknown
}

/** An object read from the server: the fields that the server always sets are present. */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: ObjectMeta & {
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
  }
}

/** One page (or the whole) of a collection. */
export interface KubeList<T extends KubeObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly Stored<T>[]
}

/** A response without an object: an error, or the result of a deletion. */
export interface Status {
  readonly apiVersion: 'v1'
  readonly kind: 'Status'
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly uid?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
  }
}

/** The name of an object of its kind. `namespace` is absent for cluster-scoped objects. */
export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}
