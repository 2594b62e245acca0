/** The state of a cluster as a value that two good runs agree on: no uids, versions, times or allocated addresses. */
import { isDeepStrictEqual } from 'node:util'
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import type { OutsideWorld } from '../world/outside-world.ts'

/** Objects by `resource namespace/name`. */
export type Snapshot = ReadonlyMap<string, PlainObject>

/** Metadata that says when and in which incarnation, not what. */
const METADATA_LEFT_OUT = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'generation',
  'managedFields',
  'selfLink',
])

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

/** Fields that the server chooses at random. */
const ALLOCATED: Readonly<Record<string, ReadonlySet<string>>> = {
  services: new Set(['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort']),
}

/** The label and annotation that the exploration leaves on objects in the name of somebody else. */
export const FOREIGN = 'exploration.reeve.dev/somebody-else'

/** The condition that it leaves in a status. */
export const FOREIGN_CONDITION = 'SomebodyElse'

/** Annotations that tell how an object came to be: revisions it went through, and a stamp over its owner's uid. */
const HISTORY = new Set(['deployment.kubernetes.io/revision', 'reeve.dev/created-from', FOREIGN])

/** Where to look, and what is known to be there on purpose. */
export interface SnapshotScope {
  /** Everything of these resources is in the snapshot. */
  readonly resources: ReadonlySet<string>
  /** Of other resources, only these objects, by id. */
  readonly others?: Iterable<string>
  /** Takes out what somebody else wrote on purpose. */
  readonly withoutForeign: (resource: string, object: PlainObject) => PlainObject
}

/** Takes a snapshot of what the operator and its users deal with. */
export function takeSnapshot(
  cluster: EmbeddedCluster,
  worlds: Iterable<OutsideWorld>,
  operator: OperatorUnderTest,
  scope: SnapshotScope,
): Snapshot {
  const snapshot = new Map<string, PlainObject>()
  const others = new Set(scope.others ?? [])
  const names = new Set([...scope.resources, ...[...others].map((id) => id.split(' ')[0] ?? '')])
  for (const resource of [...names].sort()) {
    for (const object of cluster.api.list(resource)) {
      const id = idOf(resource, object)
      if (!scope.resources.has(resource) && !others.has(id)) continue
      const plain = normalise(cluster, resource, scope.withoutForeign(resource, object))
      const kept = operator.normalise === undefined ? plain : operator.normalise(resource, plain)
      if (kept !== undefined) snapshot.set(id, kept)
    }
  }
  for (const world of worlds) {
    for (const [name, state] of Object.entries(world.state())) snapshot.set(`outside ${name}`, state)
  }
  return snapshot
}

/** Whether two snapshots say the same. */
export function isSameSnapshot(one: Snapshot, other: Snapshot): boolean {
  return isDeepStrictEqual(one, other)
}

/** `deployments.apps default/shop`. */
export function idOf(resource: string, object: PlainObject): string {
  const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name: string }
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

function normalise(cluster: EmbeddedCluster, resource: string, object: PlainObject): PlainObject {
  const { metadata, ...rest } = object as { readonly metadata: PlainObject }
  const kept = Object.entries(metadata).filter(([name]) => !METADATA_LEFT_OUT.has(name))
  const owners = metadata.ownerReferences as readonly OwnerReference[] | undefined
  const context = { generation: metadata.generation, allocated: ALLOCATED[resource] ?? new Set<string>() }
  const plain = {
    ...(clean(rest, context) as PlainObject),
    metadata: {
      ...(clean(withoutHistory(Object.fromEntries(kept)), context) as PlainObject),
      ...(owners && { ownerReferences: owners.map((owner) => describeOwner(cluster, metadata, owner)) }),
    },
  }
  return plain
}

interface OwnerReference {
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly apiVersion: string
  readonly controller?: boolean
}

/** An owner by name, and whether the reference leads to the object that has the name now. */
function describeOwner(cluster: EmbeddedCluster, metadata: PlainObject, owner: OwnerReference): string {
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/')[0] : ''
  const served = cluster.api.resources().find((entry) => entry.kind === owner.kind && entry.group === group)
  const namespace = served?.namespaced ? (metadata.namespace as string | undefined) : undefined
  const live = served && cluster.api.get(served.resource, namespace, owner.name)
  const isLive = (live?.metadata as PlainObject | undefined)?.uid === owner.uid
  const role = owner.controller ? 'controller' : 'owner'
  return `${role} ${owner.kind} ${owner.name}${isLive ? '' : ' (an earlier incarnation)'}`
}

/** How many revisions a Deployment went through depends on the way, not on the goal. */
function withoutHistory(metadata: PlainObject): PlainObject {
  const { annotations, labels, ...rest } = metadata as {
    readonly annotations?: PlainObject
    readonly labels?: PlainObject
  }
  return { ...rest, ...onlyLasting('annotations', annotations), ...onlyLasting('labels', labels) }
}

function onlyLasting(field: string, entries: PlainObject = {}): PlainObject {
  const lasting = Object.entries(entries).filter(([name]) => !HISTORY.has(name))
  return lasting.length === 0 ? {} : { [field]: Object.fromEntries(lasting) }
}

interface CleanContext {
  readonly generation: unknown
  readonly allocated: ReadonlySet<string>
}

function clean(value: unknown, context: CleanContext): unknown {
  if (typeof value === 'string') return TIME.test(value) ? '<time>' : value
  if (Array.isArray(value)) return value.filter(isOurs).map((item) => clean(item, context))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    if (name === 'observedGeneration') return [name, item === context.generation ? '<current>' : '<outdated>']
    if (context.allocated.has(name) && item !== undefined && item !== 'None') return [name, '<allocated>']
    return [name, clean(item, context)]
  })
  return Object.fromEntries(entries)
}

function isOurs(item: unknown): boolean {
  return (item as { readonly type?: unknown } | null)?.type !== FOREIGN_CONDITION
}
