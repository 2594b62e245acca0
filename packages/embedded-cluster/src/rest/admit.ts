/** Runs the admission plug-ins around a write. */
import type { AdmissionAttributes } from '../api/admission-plugin.ts'
import { decodeManagedFields, managedFieldsOf } from '../apply/managed-fields.ts'
import { isJsonObject, type JsonObject } from '../json.ts'
import { canonicalJson } from '../schema/json-value.ts'
import type { RestContext, WriteRequest } from './context.ts'

/** Inputs of the two phases. */
export interface AdmissionStep {
  readonly operation: AdmissionAttributes['operation']
  readonly object: JsonObject | undefined
  readonly oldObject: JsonObject | undefined
  readonly name?: string | undefined
  /** Replaces the request's subresource, for a write that is caused by another one. */
  readonly subresource?: string | undefined
}

function attributes(request: WriteRequest, step: AdmissionStep): AdmissionAttributes {
  return {
    operation: step.operation,
    resource: request.info,
    subresource: request.subresource,
    namespace: request.namespace,
    name: step.name ?? request.name,
    object: step.object,
    oldObject: step.oldObject,
    user: request.user,
    dryRun: request.dryRun,
    options: request.options,
    warn: request.warn,
    signal: request.signal,
  }
}

/** Runs the mutating plug-ins one after the other. */
export async function admitMutating(
  context: RestContext,
  request: WriteRequest,
  step: AdmissionStep,
): Promise<JsonObject> {
  let object = step.object
  for (const plugin of context.admission) {
    if (plugin.mutate === undefined) continue
    const pending = plugin.mutate(attributes(request, { ...step, object }))
    const changed = pending instanceof Promise ? await pending : pending
    if (changed !== undefined) object = changed
  }
  return removeDuplicateOwners(keepReadableOwnership(object ?? {}, step.object, request), request)
}

/** If admission made managedFields invalid, the previous ones are kept. */
function keepReadableOwnership(object: JsonObject, before: JsonObject | undefined, request: WriteRequest): JsonObject {
  const managedFields = managedFieldsOf(object)
  if (managedFields === undefined || managedFields === managedFieldsOf(before)) return object
  try {
    decodeManagedFields(managedFields)
    return object
  } catch (error) {
    request.warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${error instanceof Error ? error.message : String(error)}`,
    )
    const metadata = isJsonObject(object.metadata) ? object.metadata : {}
    return { ...object, metadata: { ...metadata, managedFields: managedFieldsOf(before) } }
  }
}

/** Runs every validating plug-in; the first rejection is thrown. */
export async function admitValidating(context: RestContext, request: WriteRequest, step: AdmissionStep): Promise<void> {
  for (const plugin of context.admission) {
    const pending = plugin.validate?.(attributes(request, step))
    if (pending !== undefined) await pending
  }
}

function removeDuplicateOwners(object: JsonObject, request: WriteRequest): JsonObject {
  const metadata = isJsonObject(object.metadata) ? object.metadata : undefined
  const owners = metadata?.ownerReferences
  if (metadata === undefined || !Array.isArray(owners) || owners.length < 2) return object
  const seen = new Set<string>()
  const unique = owners.filter((owner) => {
    const text = canonicalJson(owner)
    return !seen.has(text) && seen.add(text)
  })
  if (unique.length === owners.length) return object
  request.warn(
    '.metadata.ownerReferences contains duplicate entries after mutating admission happens; duplicates are dropped',
  )
  return { ...object, metadata: { ...metadata, ownerReferences: unique } }
}
