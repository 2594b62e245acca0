/** Field ownership of writes other than apply: create, update and the patches. */
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject, jsonEqual } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { emptyFieldSet, isEmptyFieldSet, unionOf } from './field-set.ts'
import {
  decodeManagedFields,
  foldOldUpdates,
  type ManagerEntry,
  managedFieldsOf,
  managedFieldsTime,
  managerIdentity,
  withManagedFields,
  withoutManagedFields,
} from './managed-fields.ts'
import { differenceFor, type FieldNames, recordable, releaseFields, resetFieldSet } from './ownership.ts'
import { objectType } from './typed-schema.ts'

/** One write. */
export interface TrackRequest {
  /** Schema of the whole object; `undefined` compares by the shape of the values. */
  readonly schema: Schema | undefined
  /** `group/version` the request is made in. */
  readonly apiVersion: string
  /** The stored object in the request's version; `undefined` for a create. */
  readonly live: JsonObject | undefined
  /** The object as it is about to be stored. */
  readonly updated: JsonObject
  readonly manager: string
  readonly subresource?: string | undefined
  /** Milliseconds since the epoch, for the time of a changed entry. */
  readonly now: number
  /**
   * Fields this endpoint cannot change, see `resetFieldsFor`.
   *
   * @default `status`, or `spec` when the subresource is `status`
   */
  readonly resetFields?: readonly FieldNames[]
  /** The initial state of the object. @default derived from the schema */
  readonly empty?: JsonObject | undefined
}

/**
 * Transfers every field that the write changes to its manager.
 *
 * *Guarantees*: inputs are not modified; never throws. Malformed managedFields in the request are ignored in favour of
 * the stored ones. An object without managedFields has none until its first apply.
 */
export function trackUpdate(request: TrackRequest): JsonObject {
  const { live, updated } = request
  const managers = readManagers(request)
  const next = withoutManagedFields(updated)
  if (live !== undefined && managers.size === 0) return withManagedFields(updated, managers)

  const type = objectType(request.schema)
  const reset = resetFieldSet(request.resetFields, updated, request.subresource)
  const difference = differenceFor(type, withoutManagedFields(live ?? request.empty ?? emptyObject(type)), next, reset)
  const owners = releaseFields(managers, undefined, difference)

  const taken = recordable(difference.changed, reset)
  if (!isEmptyFieldSet(taken)) {
    const self: ManagerEntry = {
      manager: request.manager === '' ? 'unknown' : request.manager,
      operation: 'Update',
      apiVersion: request.apiVersion,
      subresource: request.subresource,
      time: managedFieldsTime(request.now),
      fields: taken,
    }
    const identity = managerIdentity(self)
    const fields = unionOf(owners.get(identity)?.fields ?? emptyFieldSet, taken)
    owners.set(identity, { ...self, fields })
  }
  return withManagedFields(updated, foldOldUpdates(owners))
}

/**
 * The managedFields to start from. Clients that do not know the field omit it, which means "as stored"; an empty list,
 * or a list with one empty entry, resets it.
 */
function readManagers({ live, updated, subresource }: TrackRequest): Map<string, ManagerEntry> {
  const stored = (): Map<string, ManagerEntry> => decodeOrEmpty(managedFieldsOf(live))
  if (subresource !== undefined) return stored()
  const sent = managedFieldsOf(updated)
  if (isReset(sent)) return new Map()
  const managers = decodeOrEmpty(sent)
  return managers.size === 0 ? stored() : managers
}

function isReset(list: JsonValue | undefined): boolean {
  if (!Array.isArray(list) || list.length > 1) return false
  const [entry] = list
  return entry === undefined || (isJsonObject(entry) && Object.keys(entry).length === 0)
}

function decodeOrEmpty(list: JsonValue | undefined): Map<string, ManagerEntry> {
  try {
    return decodeManagedFields(list)
  } catch {
    // Malformed managedFields must not fail a write; they are dropped, as the API documents.
    return new Map()
  }
}

/**
 * Whether two states differ only in timestamps of managedFields. Such a write is a no-op: the caller keeps the stored
 * object and its resourceVersion.
 */
export function sameExceptTimes(stored: JsonObject, next: JsonObject): boolean {
  return (
    jsonEqual(withoutManagedFields(stored), withoutManagedFields(next)) &&
    jsonEqual(withoutTimes(managedFieldsOf(stored)), withoutTimes(managedFieldsOf(next)))
  )
}

function withoutTimes(list: JsonValue | undefined): JsonValue {
  if (!Array.isArray(list)) return []
  return list.map((entry) => (isJsonObject(entry) ? { ...entry, time: undefined } : entry))
}

/**
 * The initial state of an object of this kind, with no field set. For a built-in kind it is not `{}`: some structs are
 * part of every object (`spec`, `status`, the pod template), and a creator that sets fields in them owns the fields but
 * not the struct.
 */
function emptyObject(schema: Schema): JsonObject {
  const object: JsonObject = {}
  if (schema['x-inline'] !== true) return object
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const value = emptyField(field, schema.required?.includes(name) ?? false)
    if (value !== undefined) object[name] = value
  }
  return object
}

function emptyField(schema: Schema, isRequired: boolean): JsonValue | undefined {
  if (schema['x-inline']) return emptyObject(schema)
  if (!isRequired) return undefined
  return schema.default ?? null
}
