/** Field ownership of writes other than apply: create, update and the patches. */
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject, jsonEqual } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { emptyObject } from './empty-object.ts'
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
  /** The object in which nobody has set anything. @default what the schema says about it */
  readonly empty?: JsonObject | undefined
}

/**
 * Gives every field the write changes to its manager and takes it from everyone else.
 *
 * *Guarantees*: inputs are not changed; never throws. Malformed ownership records in the request are ignored in
 * favour of the stored ones. An object without records stays without until someone applies.
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
 * The records to start from. Clients that do not know managedFields leave them out, which means "as stored"; an empty
 * list, or a list of one empty entry, is how a client resets them.
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
    // Records the server cannot read must not stop a write; they are dropped, as the API documents.
    return new Map()
  }
}

/**
 * Whether two states differ in nothing but the times of ownership records. Such a write is no write: the caller
 * keeps the stored object and its resourceVersion.
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
