/** The state of a cluster as a value that two good runs agree on: no uids, versions or allocated addresses. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { isRecord } from '@reeve/http'
import type { OperatorUnderTest, PlainObject } from '../operator-under-test.ts'
import { describeNumber, describeTimes, type TimeScale } from './time-scale.ts'

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

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Fields that the server chooses, by resource. */
export const ALLOCATED: Readonly<Record<string, ReadonlySet<string>>> = {
  services: new Set(['clusterIP', 'clusterIPs', 'nodePort', 'healthCheckNodePort', 'ip']),
  persistentvolumeclaims: new Set(['volumeName']),
  serviceaccounts: new Set(['secrets']),
  pods: new Set(['nodeName', 'podIP', 'podIPs', 'hostIP', 'hostIPs']),
}

/** The label and annotation that the exploration leaves on objects in the name of someone else. */
export const FOREIGN = 'exploration.reeve.dev/another-client'

/** The condition that it leaves in a status. */
export const FOREIGN_CONDITION = 'SomebodyElse'

/** The finalizer that it holds objects with. */
export const FOREIGN_FINALIZER = 'exploration.reeve.dev/another-client'

/** Annotations about the history of an object: revisions it went through, and a stamp over its owner's uid. */
const HISTORY = new Set([
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
  'reeve.dev/created-from',
  FOREIGN,
])

/** What is known of uids. */
export interface KnownObjects {
  /** The object that has or had this uid. */
  entry(uid: string): { readonly id: string } | undefined
  isAlive(uid: string): boolean
}

/** What a snapshot is taken of. */
export interface SnapshotSource {
  readonly cluster: EmbeddedCluster
  readonly ledger: KnownObjects
  /** What the operator deals with outside the cluster. */
  readonly worlds: Iterable<{ state(): Readonly<Record<string, PlainObject>> }>
  readonly operator: OperatorUnderTest
  readonly scale: TimeScale
  /** Everything of these resources is in the snapshot. */
  readonly resources: ReadonlySet<string>
  /** Of other resources, only these objects, by id. */
  readonly others: Iterable<string>
  /** Removes what someone else wrote on purpose. */
  readonly withoutForeign: (resource: string, object: PlainObject) => PlainObject
}

/** Takes a snapshot of what the operator and its users deal with. */
export function takeSnapshot(source: SnapshotSource): Snapshot {
  const { cluster, operator, resources, worlds, withoutForeign } = source
  const snapshot = new Map<string, PlainObject>()
  const others = new Set(source.others)
  const names = new Set([...resources, ...[...others].map((id) => id.split(' ')[0] ?? '')])
  for (const resource of [...names].sort()) {
    for (const object of cluster.api.list(resource)) {
      const id = idOf(resource, object)
      if (!resources.has(resource) && !others.has(id)) continue
      const plain = normalise(source, resource, withoutForeign(resource, object))
      const kept = operator.normalise === undefined ? plain : operator.normalise(resource, plain)
      if (kept !== undefined) snapshot.set(id, kept)
    }
  }
  for (const world of worlds) {
    for (const [name, state] of Object.entries(world.state())) snapshot.set(`outside ${name}`, state)
  }
  return snapshot
}

/** The snapshot with all times of the run alike. */
export function withoutTimes(snapshot: Snapshot): Snapshot {
  const alike = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(/<time[^>]*>/g, '<time>')
    if (Array.isArray(value)) return value.map(alike)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, alike(item)]))
  }
  return new Map([...snapshot].map(([id, object]) => [id, alike(object) as PlainObject]))
}

/** `deployments.apps default/shop`. */
function idOf(resource: string, object: PlainObject): string {
  const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name: string }
  return `${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

interface OwnerReference {
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

interface CleanContext {
  readonly ledger: KnownObjects
  readonly scale: TimeScale
  readonly createdMs: number | undefined
  readonly generation: unknown
  readonly allocated: ReadonlySet<string>
}

const NOTHING_ALLOCATED: ReadonlySet<string> = new Set()

function normalise({ ledger, scale }: SnapshotSource, resource: string, object: PlainObject): PlainObject {
  const { metadata, ...rest } = withOwnConditions(object) as { readonly metadata: PlainObject }
  const kept = Object.entries(metadata).filter(([name]) => !METADATA_LEFT_OUT.has(name))
  const owners = metadata.ownerReferences as readonly OwnerReference[] | undefined
  const { creationTimestamp, generation } = metadata as { readonly creationTimestamp?: string; generation?: unknown }
  const createdMs = creationTimestamp === undefined ? undefined : Date.parse(creationTimestamp)
  const context = { ledger, scale, createdMs, generation, allocated: ALLOCATED[resource] ?? NOTHING_ALLOCATED }
  return {
    ...(clean(rest, context) as PlainObject),
    metadata: {
      ...(clean(withoutHistory(Object.fromEntries(kept)), context) as PlainObject),
      ...(owners && { ownerReferences: owners.map((owner) => describeOwner(ledger, owner)) }),
    },
  }
}

/** An owner by name, and whether the reference leads to the object that has the name now. */
function describeOwner(ledger: KnownObjects, { controller, kind, name, uid }: OwnerReference): string {
  const role = controller ? 'controller' : 'owner'
  return `${role} ${kind} ${name}${ledger.isAlive(uid) ? '' : ' (an earlier incarnation)'}`
}

/** How many revisions a Deployment went through depends on the history, not on the goal. */
function withoutHistory(metadata: PlainObject): PlainObject {
  const { annotations, labels, finalizers, ...rest } = metadata as {
    readonly annotations?: PlainObject
    readonly labels?: PlainObject
    readonly finalizers?: readonly string[]
  }
  const own = finalizers?.filter((finalizer) => finalizer !== FOREIGN_FINALIZER) ?? []
  return {
    ...rest,
    ...onlyLasting('annotations', annotations),
    ...onlyLasting('labels', labels),
    ...(own.length > 0 && { finalizers: own }),
  }
}

function onlyLasting(field: string, entries: PlainObject = {}): PlainObject {
  const lasting = Object.entries(entries).filter(([name]) => !HISTORY.has(name))
  return lasting.length === 0 ? {} : { [field]: Object.fromEntries(lasting) }
}

function clean(value: unknown, context: CleanContext, field = ''): unknown {
  if (typeof value === 'string') return cleanText(value, context, field)
  if (typeof value === 'number') return describeNumber(value, context.scale, context.createdMs)
  if (Array.isArray(value)) return value.map((item) => clean(item, context, field))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    if (name === 'observedGeneration') return [name, item === context.generation ? '<current>' : '<outdated>']
    if (context.allocated.has(name) && item !== undefined && item !== 'None') return [name, '<allocated>']
    return [name, clean(item, context, name)]
  })
  return Object.fromEntries(entries)
}

function cleanText(text: string, { ledger, scale, createdMs }: CleanContext, field: string): string {
  if (text.length === 36 && UID.test(text)) {
    const entry = ledger.entry(text)
    if (entry !== undefined) return `<uid of ${entry.id}${ledger.isAlive(text) ? '' : ', which is deleted'}>`
  }
  return text.length < 10 ? text : describeTimes(text, scale, createdMs, field)
}

/**
 * Removes the condition that the exploration added. An empty list of conditions equals none, and so does another order of
 * them: a condition is found by its type.
 */
function withOwnConditions(object: PlainObject): PlainObject {
  const { status, ...rest } = object
  if (!isRecord(status) || !Array.isArray(status.conditions)) return object
  const { conditions, ...others } = status
  const own = conditions.filter((item: unknown) => !isRecord(item) || item.type !== FOREIGN_CONDITION)
  const sorted = own.toSorted((one: unknown, other: unknown) => (typeOf(one) < typeOf(other) ? -1 : 1))
  if (sorted.length > 0) return { ...rest, status: { ...others, conditions: sorted } }
  return Object.keys(others).length > 0 ? { ...rest, status: others } : rest
}

function typeOf(condition: unknown): string {
  return isRecord(condition) ? String(condition.type) : ''
}
