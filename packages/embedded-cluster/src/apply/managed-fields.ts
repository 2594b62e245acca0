/** Field ownership in `metadata.managedFields`. */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { type FieldSet, isEmptyFieldSet, unionOf } from './field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from './fields-v1.ts'

/** One manager and the fields it owns. */
export interface ManagerEntry {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string | undefined
  /** RFC 3339, seconds. */
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** Entries by identity, see `managerIdentity`. */
export type Managers = ReadonlyMap<string, ManagerEntry>

/**
 * More Update entries than this are folded into one, so that an object with many writers does not grow without limit.
 */
const maxUpdateManagers = 10
const foldedManager = 'ancient-changes'

/**
 * The identity of an entry. An Apply manager stays the same when it moves to another version; an Update manager does
 * not, because its fields are known only in the version it wrote.
 */
export function managerIdentity(entry: Omit<ManagerEntry, 'fields' | 'time'>): string {
  const { manager, operation, apiVersion, subresource } = entry
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource ?? ''])
}

/**
 * Reads `managedFields`.
 *
 * *Errors*: throws an Error with the index of the entry when one is malformed.
 */
export function decodeManagedFields(list: JsonValue | undefined): Map<string, ManagerEntry> {
  const managers = new Map<string, ManagerEntry>()
  if (!Array.isArray(list)) return managers
  for (const [index, item] of list.entries()) {
    const entry = decodeEntry(item, index)
    managers.set(managerIdentity(entry), entry)
  }
  return managers
}

function decodeEntry(item: JsonValue, index: number): ManagerEntry {
  if (!isJsonObject(item)) throw new Error(`managed fields entry ${index} is not an object`)
  const { operation } = item
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`')
  const apiVersion = textOf(item.apiVersion)
  if (apiVersion === undefined) throw new Error('apiVersion must not be empty')
  if (item.fieldsType === undefined) throw new Error(`missing fieldsType in managed fields entry ${index}`)
  if (item.fieldsType !== 'FieldsV1') {
    throw new Error(`invalid fieldsType ${JSON.stringify(item.fieldsType)} in managed fields entry ${index}`)
  }
  return {
    manager: textOf(item.manager) ?? '',
    operation,
    apiVersion,
    subresource: textOf(item.subresource),
    time: textOf(item.time),
    fields: decodeFieldsV1(isJsonObject(item.fieldsV1) ? item.fieldsV1 : undefined),
  }
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Writes `managedFields`: appliers first, then by time, manager, version and subresource. */
function encodeManagedFields(managers: Managers): JsonObject[] {
  return [...managers.values()]
    .sort(compareEntries)
    .map(({ manager, operation, apiVersion, subresource, time, fields }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFieldsV1(fields),
      ...(subresource === undefined ? {} : { subresource }),
    }))
}

function compareEntries(a: ManagerEntry, b: ManagerEntry): number {
  return (
    compareText(a.operation, b.operation) ||
    compareText(a.time ?? '', b.time ?? '') ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  )
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The entries that still own something. */
export function withoutEmptyEntries(managers: Managers): Map<string, ManagerEntry> {
  const kept = new Map<string, ManagerEntry>()
  for (const [identity, entry] of managers) {
    if (!isEmptyFieldSet(entry.fields)) kept.set(identity, entry)
  }
  return kept
}

/** Folds the oldest Update entries of each version until at most ten are left. */
export function foldOldUpdates(managers: Managers): Map<string, ManagerEntry> {
  const kept = new Map(managers)
  const updates = [...managers]
    .filter(([, entry]) => entry.operation === 'Update')
    .sort(([a, first], [b, second]) => compareText(first.time ?? '', second.time ?? '') || compareText(a, b))
  let surplus = updates.length - maxUpdateManagers
  /** The oldest entry of each version; a second one is folded into it. */
  const oldestByVersion = new Map<string, string>()
  for (const [identity, entry] of updates) {
    if (surplus <= 0) break
    const oldest = oldestByVersion.get(entry.apiVersion)
    if (oldest === undefined) {
      oldestByVersion.set(entry.apiVersion, identity)
      continue
    }
    const bucket = kept.get(oldest)
    if (bucket === undefined) continue
    const folded: ManagerEntry = {
      manager: foldedManager,
      operation: 'Update',
      apiVersion: entry.apiVersion,
      subresource: undefined,
      time: entry.time,
      fields: unionOf(bucket.fields, entry.fields),
    }
    kept.delete(oldest)
    kept.delete(identity)
    kept.set(managerIdentity(folded), folded)
    oldestByVersion.set(entry.apiVersion, managerIdentity(folded))
    surplus--
  }
  return kept
}

/** A timestamp in the format of `managedFields`. */
export function managedFieldsTime(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19)}Z`
}

/** `object` with these managedFields, or without the field when there are none. */
export function withManagedFields(object: JsonObject, managers: Managers): JsonObject {
  const { managedFields: _, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {}
  const entries = encodeManagedFields(managers)
  return { ...object, metadata: entries.length === 0 ? metadata : { ...metadata, managedFields: entries } }
}

/** The `metadata.managedFields` of an object, unchanged. */
export function managedFieldsOf(object: JsonObject | undefined): JsonValue | undefined {
  const metadata = object?.metadata
  return isJsonObject(metadata) ? metadata.managedFields : undefined
}

/** `object` without managedFields, which are not merged or compared. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object.metadata
  if (!isJsonObject(metadata) || metadata.managedFields === undefined) return object
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest }
}
