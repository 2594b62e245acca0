/** The comparison by field ownership: which fields of a live object differ from what a field manager desires. */
import { isRecord, type JsonRecord, ownValue } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { isJsonEqual } from '../json/json-equal.ts'
import { type FieldTree, isLeaf } from './field-tree.ts'
import type { OwnFields } from './own-fields.ts'

/** One field that an apply would change. */
export interface FieldDifference {
  /** Such as `spec.template.spec.containers[name=web].image`. */
  readonly path: string
  /** `undefined` when the field would be removed. */
  readonly desired: unknown
  /** `undefined` when the field does not exist yet. */
  readonly live: unknown
}

/** Metadata that identifies an object or belongs to the server; never part of what is applied. */
const IDENTITY = new Set([
  'name',
  'namespace',
  'generateName',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
])

/**
 * What counts as a difference:
 * - `apply`: whatever an apply would change, ownership included. Owned fields that are not desired would be removed.
 * - `as-created`: the same, but fields owned beyond the desired ones are known to be the server's defaults.
 * - `drift`: values that other managers have changed. An owned field is as it was written, even where the server or a
 *   webhook expressed it differently (`0.5` as `500m`); a field that is no longer owned only needs to have its value.
 */
export type Comparison = 'apply' | 'as-created' | 'drift'

/**
 * Lists the fields of `desired` that differ on `live`; empty means that there is nothing to do.
 *
 * @param own what the field manager owns of `live` now; `undefined` when it owns nothing
 *
 * @example
 * const differences = compareFields(desired, live, ownFields(live, manager, trees))
 */
export function compareFields(
  desired: KubeObject,
  live: KubeObject,
  own: Pick<OwnFields, 'tree'> | undefined,
  how: Comparison = 'apply',
): readonly FieldDifference[] {
  const differences: FieldDifference[] = []
  compareObject(withoutIdentity(desired), asRecord(live), own?.tree, '', { differences, how })
  return differences
}

interface Walk {
  readonly differences: FieldDifference[]
  readonly how: Comparison
}

function withoutIdentity(object: KubeObject): JsonRecord {
  const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = object
  const owned = Object.entries(metadata).filter(([name]) => !IDENTITY.has(name))
  return owned.length === 0 ? rest : { metadata: Object.fromEntries(owned), ...rest }
}

function compareValue(desired: unknown, live: unknown, tree: FieldTree | undefined, path: string, walk: Walk): void {
  const isDrift = walk.how === 'drift'
  // The server drops empty lists and maps from typed objects: wanting one and having none is the same.
  if (isEmpty(desired) && (isDrift || live === undefined || isCollection(live))) return
  if (isDrift && desired === null) return
  // When the only key of a map is changed by another manager, its former owner still owns the map.
  if (tree !== undefined && isLeaf(tree) && !(isDrift && isRecord(desired))) {
    if (!isAsOwned(desired, live, walk)) walk.differences.push({ path, desired, live })
  } else if (isRecord(desired) && (!isDrift || isRecord(live))) {
    compareObject(desired, asRecord(live), tree, path, walk)
  } else if (Array.isArray(desired) && tree !== undefined && (!isDrift || hasEntries(tree, live))) {
    compareList(desired, Array.isArray(live) ? live : [], tree, path, walk)
  } else if (!isDrift || !isWithin(desired, live)) {
    walk.differences.push({ path, desired, live })
  }
}

/** Whether a value that is owned as one is as desired. */
function isAsOwned(desired: unknown, live: unknown, { how }: Walk): boolean {
  if (how === 'drift') return true
  // What is owned as one also carries defaults, such as the apiVersion of a fieldRef.
  return how === 'as-created' ? isWithin(desired, live) : isJsonEqual(desired, live)
}

/** A list of which no item is owned was taken over as a whole, and is compared as a whole. */
function hasEntries({ items, members }: FieldTree, live: unknown): boolean {
  return Array.isArray(live) && items.length + members.length > 0
}

/** Whether `live` has all that `desired` has, and perhaps more. */
function isWithin(desired: unknown, live: unknown): boolean {
  if (live === undefined && (isEmpty(desired) || desired === null)) return true
  if (Array.isArray(desired)) {
    return (
      Array.isArray(live) && desired.length === live.length && desired.every((item, at) => isWithin(item, live[at]))
    )
  }
  if (!isRecord(desired) || !isRecord(live)) return isJsonEqual(desired, live)
  return Object.keys(desired).every(
    (name) => desired[name] === undefined || isWithin(desired[name], ownValue(live, name)),
  )
}

function compareObject(
  desired: JsonRecord,
  live: JsonRecord,
  tree: FieldTree | undefined,
  path: string,
  walk: Walk,
): void {
  // Names instead of entries, which would be an array for every field of every object.
  for (const name of Object.keys(desired)) {
    const value = desired[name]
    if (value === undefined) continue
    compareValue(value, ownValue(live, name), tree?.fields.get(name), path === '' ? name : `${path}.${name}`, walk)
  }
  if (walk.how !== 'apply' || tree === undefined) return
  for (const name of tree.fields.keys()) {
    if (ownValue(desired, name) !== undefined) continue
    const present = ownValue(live, name)
    // An owned field that the object no longer has needs no request to be removed.
    if (present === undefined) continue
    walk.differences.push({ path: path === '' ? name : `${path}.${name}`, desired: undefined, live: present })
  }
}

function compareList(
  desired: readonly unknown[],
  live: readonly unknown[],
  tree: FieldTree,
  path: string,
  walk: Walk,
): void {
  if (tree.members.length > 0) {
    compareSet(desired, live, tree, path, walk)
    return
  }
  const matched = new Set<FieldTree>()
  for (const item of desired) {
    const owned = tree.items.find(({ key, tree: subtree }) => !matched.has(subtree) && matchesKey(item, key, 'partly'))
    const at = `${path}[${describeKey(owned?.key, item)}]`
    const counterpart = owned && live.find((candidate) => matchesKey(candidate, owned.key, 'fully'))
    if (owned === undefined || counterpart === undefined) {
      const isThere = walk.how === 'drift' && live.some((candidate) => isWithin(item, candidate))
      if (!isThere) walk.differences.push({ path: at, desired: item, live: undefined })
      continue
    }
    matched.add(owned.tree)
    compareValue(item, counterpart, owned.tree, at, walk)
  }
  if (walk.how !== 'apply') return
  for (const { key, tree: subtree } of tree.items) {
    const item = live.find((candidate) => matchesKey(candidate, key, 'fully'))
    if (matched.has(subtree) || item === undefined || desired.some((wanted) => matchesKey(wanted, key, 'partly')))
      continue
    walk.differences.push({ path: `${path}[${describeKey(key, item)}]`, desired: undefined, live: item })
  }
}

function compareSet(
  desired: readonly unknown[],
  live: readonly unknown[],
  tree: FieldTree,
  path: string,
  walk: Walk,
): void {
  const has = (list: readonly unknown[], value: unknown) => list.some((item) => isJsonEqual(item, value))
  for (const value of desired) {
    const isOwned = has(tree.members, value)
    const isAsDesired = walk.how === 'drift' ? isOwned || has(live, value) : isOwned && has(live, value)
    if (!isAsDesired) {
      walk.differences.push({ path: `${path}[${JSON.stringify(value)}]`, desired: value, live: undefined })
    }
  }
  if (walk.how !== 'apply') return
  for (const value of tree.members) {
    if (!has(desired, value) && has(live, value)) {
      walk.differences.push({ path: `${path}[${JSON.stringify(value)}]`, desired: undefined, live: value })
    }
  }
}

/**
 * A live item carries every key field. A desired item may leave out those that have a default, such as a port's
 * protocol: what it leaves out does not count against the match.
 */
function matchesKey(item: unknown, key: JsonRecord, how: 'fully' | 'partly'): boolean {
  if (!isRecord(item)) return false
  return Object.entries(key).every(([name, value]) => {
    const present = ownValue(item, name)
    return present === undefined ? how === 'partly' : isJsonEqual(present, value)
  })
}

function describeKey(key: JsonRecord | undefined, item: unknown): string {
  if (key !== undefined) {
    return Object.entries(key)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(',')
  }
  return isRecord(item) && typeof item.name === 'string' ? `name=${item.name}` : 'new'
}

function isCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}
