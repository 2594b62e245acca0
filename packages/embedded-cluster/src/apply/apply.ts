/** Server-side apply: merges a configuration into an object and records who owns which field. */
import { isJsonObject, type JsonObject, jsonEqual } from '../json.ts'
import { dropNulls } from '../schema/drop-nulls.ts'
import type { Schema } from '../schema/schema.ts'
import { StatusError } from '../status-error.ts'
import { checkApplied } from './check-applied.ts'
import { applyConflictError } from './conflict-error.ts'
import { differenceOf, type FieldSet, isEmptyFieldSet, recursiveDifferenceOf, unionOf } from './field-set.ts'
import { fieldsFromLastApplied, kubectlManager, refreshLastApplied } from './last-applied.ts'
import {
  decodeManagedFields,
  foldOldUpdates,
  type ManagerEntry,
  type Managers,
  managedFieldsOf,
  managedFieldsTime,
  managerIdentity,
  withManagedFields,
  withoutManagedFields,
} from './managed-fields.ts'
import { mergeApplied, removeFields } from './merge.ts'
import { ownedFields, withDeclaredParents } from './owned-fields.ts'
import {
  type Conflict,
  conflictsWith,
  differenceFor,
  type FieldNames,
  recordable,
  releaseFields,
  resetFieldSet,
} from './ownership.ts'
import { sameExceptTimes, trackUpdate } from './track.ts'
import { objectType } from './typed-schema.ts'

/** One apply request. */
export interface ApplyRequest {
  /** Schema of the whole object; `undefined` merges by the shape of the values. */
  readonly schema: Schema | undefined
  /** `group/version` the request is made in. */
  readonly apiVersion: string
  /** The stored object in the request's version; `undefined` creates. */
  readonly live: JsonObject | undefined
  /** The configuration, complete with apiVersion, kind and metadata.name. */
  readonly applied: JsonObject
  readonly manager: string
  /** Takes over fields that other managers own. */
  readonly force: boolean
  readonly subresource?: string | undefined
  /** Milliseconds since the epoch, for the time of a changed entry. */
  readonly now: number
  /**
   * Fields this endpoint cannot change, see `resetFieldsFor`.
   *
   * @default `status`, or `spec` when the subresource is `status`
   */
  readonly resetFields?: readonly FieldNames[]
}

/** The manager that owns the fields that were set before ownership was recorded. */
const beforeFirstApply = 'before-first-apply'

/**
 * Merges `applied` into `live`. Fields that this manager applied earlier and no longer applies are removed, unless
 * another manager owns them too.
 *
 * *Guarantees*: inputs are not modified. A repeated apply returns `live` itself, including timestamps.
 *
 * *Errors*: StatusError 409 with a cause per conflicting field, 500 when the configuration does not match the schema,
 * 400 when it contains managedFields or another version.
 */
export function serverSideApply(request: ApplyRequest): JsonObject {
  const type = objectType(request.schema)
  checkRequest(request, type)
  const reset = resetFieldSet(request.resetFields, request.applied, request.subresource)
  const base = ownershipBase(request)
  const live = withoutManagedFields(base ?? {})
  const managers = readManagers(base)
  const merged = withoutNullTime(mergeApplied(type, live, request.applied), live)
  const stated = recursiveDifferenceOf(ownedFields(type, request.applied), reset)

  const self: ManagerEntry = {
    manager: request.manager,
    operation: 'Apply',
    apiVersion: request.apiVersion,
    subresource: request.subresource,
    time: undefined,
    fields: stated,
  }
  const identity = managerIdentity(self)
  const previous = managers.get(identity)
  managers.set(identity, self)
  const pruned = pruneAbandoned(type, merged, managers, previous?.fields, stated)

  const difference = differenceFor(type, live, pruned, reset)
  const conflicts = request.force ? [] : unresolved(request, type, live, conflictsWith(managers, identity, difference))
  if (conflicts.length > 0) throw applyConflictError(conflicts)

  const owners = releaseFields(managers, identity, difference)
  const fields = recordable(stated, reset)
  // A manager that applies the existing value shares ownership without a new timestamp.
  const isChanged = request.live === undefined || !jsonEqual(live, pruned)
  const time = isChanged ? managedFieldsTime(request.now) : previous?.time
  if (isEmptyFieldSet(fields)) owners.delete(identity)
  else owners.set(identity, { ...self, time, fields })
  const complete = type['x-inline'] ? dropNulls(type, pruned) : pruned
  const object = request.manager === kubectlManager ? refreshLastApplied(complete, request.applied) : complete
  const result = withManagedFields(object, foldOldUpdates(owners))
  return request.live !== undefined && sameExceptTimes(request.live, result) ? request.live : result
}

function checkRequest({ applied, apiVersion }: ApplyRequest, type: Schema): void {
  if (applied.apiVersion !== apiVersion) {
    throw new StatusError(
      400,
      'BadRequest',
      `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${apiVersion}`,
    )
  }
  if ((managedFieldsOf(applied) ?? null) !== null) {
    throw new StatusError(400, 'BadRequest', 'metadata.managedFields must be nil')
  }
  const problems = checkApplied(type, applied)
  if (problems.length === 0) return
  const list = problems.length === 1 ? problems[0] : `errors:\n${problems.map((problem) => `  ${problem}`).join('\n')}`
  throw new StatusError(500, '', `failed to create typed patch object (${describeObject(applied)}): ${list}`)
}

function describeObject(object: JsonObject): string {
  const metadata = isJsonObject(object.metadata) ? object.metadata : {}
  const version = String(object.apiVersion)
  const groupVersion = version.includes('/') ? version : `/${version}`
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}; ${groupVersion}, Kind=${object.kind}`
}

/**
 * The live object with an owner for every field. If no ownership is recorded (an old object, or one whose managedFields
 * were reset), a placeholder manager owns all fields from the first apply on; otherwise that apply would silently
 * overwrite values of other managers.
 */
function ownershipBase(request: ApplyRequest): JsonObject | undefined {
  const { live } = request
  if (live === undefined) return undefined
  const recorded = managedFieldsOf(live)
  if (Array.isArray(recorded) && recorded.length > 0) return live
  return trackUpdate({ ...request, live: undefined, updated: live, manager: beforeFirstApply })
}

function readManagers(live: JsonObject | undefined): Map<string, ManagerEntry> {
  try {
    return decodeManagedFields(managedFieldsOf(live))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new StatusError(500, '', `failed to decode managed fields: ${reason}`, undefined, { cause: error })
  }
}

/** Manifests written by Go programs have `creationTimestamp: null`, which has no meaning. */
function withoutNullTime(merged: ReturnType<typeof mergeApplied>, live: JsonObject): JsonObject {
  if (!isJsonObject(merged)) return live
  const metadata = merged.metadata
  if (!isJsonObject(metadata) || metadata.creationTimestamp !== null) return merged
  const before = isJsonObject(live.metadata) ? live.metadata.creationTimestamp : undefined
  const { creationTimestamp: _, ...rest } = metadata
  return { ...merged, metadata: before === undefined ? rest : { ...rest, creationTimestamp: before } }
}

/** Removes the fields that this manager applied last time, does not apply now, and no other manager owns. */
function pruneAbandoned(
  type: Schema,
  merged: JsonObject,
  managers: Managers,
  lastStated: FieldSet | undefined,
  stated: FieldSet,
): JsonObject {
  // Usually a manager applies the same fields as before, and there is nothing to compute.
  if (lastStated === undefined || isEmptyFieldSet(differenceOf(lastStated, stated))) return merged
  let owned = stated
  for (const { fields } of managers.values()) owned = unionOf(owned, fields)
  const abandoned = differenceOf(withDeclaredParents(type, lastStated), withDeclaredParents(type, owned))
  if (isEmptyFieldSet(abandoned)) return merged
  const pruned = removeFields(type, merged, abandoned)
  return isJsonObject(pruned) ? pruned : merged
}

/** kubectl may take over the fields that it set by client-side apply. */
function unresolved(
  request: ApplyRequest,
  type: Schema,
  live: JsonObject,
  conflicts: readonly Conflict[],
): readonly Conflict[] {
  if (conflicts.length === 0 || request.manager !== kubectlManager) return conflicts
  const allowed = fieldsFromLastApplied(type, request.apiVersion, live)
  if (allowed === undefined) return conflicts
  return conflicts
    .map(({ entry, fields }) => ({ entry, fields: differenceOf(fields, allowed) }))
    .filter(({ fields }) => !isEmptyFieldSet(fields))
}
