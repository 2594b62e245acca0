/** What all objects have in common, as the controllers read it. Only the fields they look at are named. */

/** Who an object belongs to. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Labels, annotations, and everything else that maps texts to texts. */
export type Labels = Readonly<Record<string, string>>

/** Metadata of an object the server has stored. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Labels
  readonly annotations?: Labels
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

/** Metadata of an object that does not exist yet: the server fills in the rest. */
export interface DraftMeta {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly labels?: Labels
  readonly annotations?: Labels
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

/** Any stored object. */
export interface ClusterObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** An object to be created: the server adds status and the rest of metadata. */
export type Draft<T extends ClusterObject> = Omit<T, 'metadata' | 'status'> & { readonly metadata: DraftMeta }

/** The selector of workloads and disruption budgets. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelRequirement[]
}

/** One demand of a selector on one label. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** One statement of an object's status. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  /** Deployments: the last time anything about the condition changed, its reason included. */
  readonly lastUpdateTime?: string
  /** Jobs: the last time the condition was looked at. */
  readonly lastProbeTime?: string | null
  readonly observedGeneration?: number
}

/** A count, or a share such as `25%`. */
export type IntOrPercent = number | string

/** Points at another object. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
}

/** `namespace/name`, or the name alone for an object without a namespace. */
export function keyOf(object: ClusterObject): string {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The two halves of a key made by {@link keyOf}; the namespace is empty for an object without one. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) }
}

/** The object's namespace, empty for an object without one. */
export function namespaceOf(object: ClusterObject): string {
  return object.metadata.namespace ?? ''
}

/** Whether somebody asked for the object's deletion. */
export function isTerminating(object: ClusterObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** The reference that names the object's controller, if it has one. */
export function controllerOf(object: ClusterObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true)
}

/** A reference that makes `owner` the controller of another object. */
export function controllerReference(owner: ClusterObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  }
}

/** Oldest first; objects of the same second by name, so that the order is always the same. */
export function byAge(a: ClusterObject, b: ClusterObject): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (left !== right) return left < right ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0
}
