/** Tells which fields that a chart sets somebody else has changed, from who owns them: the server keeps account of that. */
import { isRecord, type JsonRecord, type KubeObject, type ManagedFieldsEntry, ownValue } from '@reeve/kube'
import { type FieldTree, isJsonEqual, isLeaf, parseFieldTree } from '@reeve/runtime/engine'

/** Part of the identity of an object, and never a matter of drift. */
const IDENTITY: ReadonlySet<string> = new Set(['name', 'namespace'])

const SCALE = 'scale'
const REPLICAS = 'spec.replicas'

/** Autoscalers write through the scale subresource; so does `kubectl scale`, which is a hand. */
const HAND = /^kubectl/

/** An object with more differences than this has simply changed. */
const MAX_FIELDS = 20

/**
 * A cache transform that keeps what {@link driftedFields} needs of the account of ownership, which is most of an object.
 *
 * @example
 * cache.informer(Deployments, { transform: keepDriftFields('helm') })
 */
export function keepDriftFields(fieldManager: string): <T extends KubeObject>(object: T) => T {
  return (object) => {
    const { managedFields } = object.metadata
    if (managedFields === undefined) return object
    const kept = managedFields.filter((entry) => isHelms(entry, fieldManager) || entry.subresource === SCALE)
    return { ...object, metadata: { ...object.metadata, managedFields: kept } }
  }
}

/**
 * Paths of the fields of a manifest that no longer are as Helm wrote them.
 *
 * What Helm still owns is as it wrote it, even where the server or an admission webhook wrote it down in other words
 * (`0.5` as `500m`). A field that it has lost is a difference unless the value is the same. Fields that the manifest does
 * not set are nobody's business here, and replicas that an autoscaler looks after are its.
 *
 * @param fieldManager under which name helm writes
 *
 * @example
 * driftedFields(manifestObject, deployment, 'helm') // ['spec.template.spec.containers[name=web].image']
 */
export function driftedFields(desired: KubeObject, live: KubeObject, fieldManager: string): readonly string[] {
  const entries = live.metadata.managedFields ?? []
  const trees = entries.filter((entry) => isHelms(entry, fieldManager)).map(({ fieldsV1 }) => parseFieldTree(fieldsV1))
  const fields: string[] = []
  compareMap(contentOf(desired), contentOf(live), trees, '', fields)
  const found = isAutoscaled(entries) ? fields.filter((field) => field !== REPLICAS) : fields
  return found.slice(0, MAX_FIELDS)
}

function isHelms({ manager, subresource = '' }: ManagedFieldsEntry, fieldManager: string): boolean {
  return manager === fieldManager && subresource === ''
}

function isAutoscaled(entries: readonly ManagedFieldsEntry[]): boolean {
  return entries.some(({ subresource, manager = '' }) => subresource === SCALE && !HAND.test(manager))
}

/** What can differ: everything but the identity, with the texts of a Secret as the server stores them. */
function contentOf(object: KubeObject): JsonRecord {
  const { apiVersion: _version, kind, metadata, status: _status, ...rest } = object as KubeObject & JsonRecord
  const own = Object.entries(metadata).filter(([name]) => !IDENTITY.has(name))
  const content = { metadata: Object.fromEntries(own), ...rest }
  if (kind !== 'Secret' || !isRecord(rest.stringData)) return content
  const { stringData, data, ...others } = content as JsonRecord
  const encoded = Object.entries(stringData as JsonRecord).map(([key, text]) => [
    key,
    Buffer.from(String(text)).toString('base64'),
  ])
  return { ...others, data: { ...(isRecord(data) && data), ...Object.fromEntries(encoded) } }
}

function compareValue(
  desired: unknown,
  live: unknown,
  trees: readonly FieldTree[],
  path: string,
  fields: string[],
): void {
  if (isNothing(desired)) return
  // Of a map it may be all or nothing: when somebody changes its only key, Helm is left with the map around it.
  if (trees.some(isLeaf) && !isRecord(desired)) return
  if (isRecord(desired) && isRecord(live)) compareMap(desired, live, trees, path, fields)
  else if (Array.isArray(desired) && Array.isArray(live)) compareList(desired, live, trees, path, fields)
  else if (!isJsonEqual(desired, live)) fields.push(path)
}

function compareMap(
  desired: JsonRecord,
  live: JsonRecord,
  trees: readonly FieldTree[],
  path: string,
  fields: string[],
): void {
  for (const [name, value] of Object.entries(desired)) {
    const below = trees.flatMap((tree) => tree.fields.get(name) ?? [])
    compareValue(value, ownValue(live, name), below, path === '' ? name : `${path}.${name}`, fields)
  }
}

/**
 * Items are told apart by the keys under which Helm owns them; what it does not own has to be there all the same. A list
 * of which it owns no item is one value: it has lost it as a whole.
 */
function compareList(
  desired: readonly unknown[],
  live: readonly unknown[],
  trees: readonly FieldTree[],
  path: string,
  fields: string[],
): void {
  const owned = trees.flatMap(({ items }) => items)
  const members = trees.flatMap((tree) => tree.members)
  if (owned.length + members.length === 0) {
    const isSame = desired.length === live.length && desired.every((item, index) => contains(live[index], item))
    if (!isSame) fields.push(path)
    return
  }
  for (const [index, item] of desired.entries()) {
    if (members.some((member) => isJsonEqual(member, item))) continue
    const { key, tree } = owned.find((candidate) => carries(item, candidate.key, true)) ?? {}
    const counterpart = key && live.find((candidate) => carries(candidate, key, false))
    const at = `${path}[${describe(item, index)}]`
    if (tree !== undefined && counterpart !== undefined) compareValue(item, counterpart, [tree], at, fields)
    else if (!live.some((candidate) => contains(candidate, item))) fields.push(at)
  }
}

/** Whether an item has these key fields; a written item may leave out those that have a default, such as a protocol. */
function carries(item: unknown, key: JsonRecord, mayLack: boolean): boolean {
  if (!isRecord(item)) return false
  return Object.entries(key).every(([name, value]) =>
    item[name] === undefined ? mayLack : isJsonEqual(item[name], value),
  )
}

/** Whether a value says at least what another says. */
function contains(live: unknown, desired: unknown): boolean {
  const fields: string[] = []
  compareValue(desired, live, [], '', fields)
  return fields.length === 0
}

/** The server drops what is empty. */
function isNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

function describe(item: unknown, index: number): string {
  return isRecord(item) && typeof item.name === 'string' ? `name=${item.name}` : String(index)
}
