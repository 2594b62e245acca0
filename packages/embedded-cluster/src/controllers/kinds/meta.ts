/** Metadata that all objects share. Only the fields that the controllers use are declared. */

/** The owner of an object. */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Labels, annotations, and other maps of strings. */
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

/** Metadata of a new object: the server sets the rest. */
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

/** An object to create: the server adds status and the rest of metadata. */
export type Draft<T extends ClusterObject> = Omit<T, 'metadata' | 'status'> & { readonly metadata: DraftMeta }

/** The selector of workloads and disruption budgets. An empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly LabelRequirement[]
}

/** One requirement of a selector on one label. */
export interface LabelRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** A condition in an object's status. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
  /** Deployments: the last time anything about the condition changed, including its reason. */
  readonly lastUpdateTime?: string
  /** Jobs: the last time the condition was checked. */
  readonly lastProbeTime?: string | null
  readonly observedGeneration?: number
}

/** A count, or a percentage such as `25%`. */
export type IntOrPercent = number | string

/** A reference to another object. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
}

/** `namespace/name`, or the name alone for a cluster-scoped object. */
export function keyOf(object: ClusterObject): string {
  const { namespace, name } = object.metadata
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The namespace and name of a key made by {@link keyOf}; the namespace is empty for a cluster-scoped object. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) }
}

/** The object's namespace, empty for a cluster-scoped object. */
export function namespaceOf(object: ClusterObject): string {
  return object.metadata.namespace ?? ''
}

/** Whether the object is being deleted. */
export function isTerminating(object: ClusterObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** The owner reference of the object's controller, if it has one. */
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

/** Oldest first; objects of the same second by name, so that the order is deterministic. */
export function byAge(a: ClusterObject, b: ClusterObject): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp]
  if (left !== right) return left < right ? -1 : 1
  return a.metadata.name < b.metadata.name ? -1 : a.metadata.name > b.metadata.name ? 1 : 0
}
