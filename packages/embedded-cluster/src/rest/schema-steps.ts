/** The steps of a write that depend on the schema of the kind. */
import { serverSideApply } from '../apply/apply.ts'
import { resetFieldsFor } from '../apply/ownership.ts'
import { trackUpdate } from '../apply/track.ts'
import { validateScaleValues } from '../crd/scale-values.ts'
import type { JsonObject } from '../json.ts'
import { apiVersionOf, type ResourceInfo, subresource } from '../registry/resource-info.ts'
import { applyDefaults, type DefaultOptions } from '../schema/default.ts'
import { validateSchema } from '../schema/validate.ts'
import type { FieldError } from '../status-error.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { withoutScaleTimes } from './scale-ownership.ts'

/** Sets the defaults of a custom resource's schema. The defaults of built-in kinds are in their strategies. */
export function schemaDefaults(info: ResourceInfo, object: JsonObject, options?: DefaultOptions): JsonObject {
  return info.custom ? applyDefaults(info.schema, object, options) : object
}

/** Errors of a custom resource by its schema; with `old`, unchanged parts are not reported. */
export function validateObject(
  info: ResourceInfo,
  object: JsonObject,
  old: JsonObject | undefined,
): readonly FieldError[] {
  if (!info.custom) return []
  const errors = [...validateSchema(info.schema, object, { old }), ...validateScaleValues(info, object)]
  return [...errors, ...(info.validateRules?.(object, old, errors) ?? [])]
}

/** Records the manager of the fields that a write changes. */
export function recordOwnership(
  context: RestContext,
  request: WriteRequest,
  updated: JsonObject,
  live: JsonObject | undefined,
): JsonObject {
  const tracked = trackUpdate({
    schema: request.info.schema,
    apiVersion: apiVersionOf(request.info),
    live,
    updated,
    manager: request.fieldManager,
    subresource: request.subresource,
    now: context.clock.now(),
    resetFields: resetFields(request),
    empty: context.strategyOf(request.info).empty?.(),
  })
  return request.subresource === 'scale' ? withoutScaleTimes(tracked) : tracked
}

/** Merges an applied configuration into the live object; `force` takes over fields of other managers. */
export function mergeApplied(
  context: RestContext,
  request: WriteRequest,
  applied: JsonObject,
  live: JsonObject | undefined,
  force: boolean,
): JsonObject {
  return serverSideApply({
    schema: request.info.schema,
    apiVersion: apiVersionOf(request.info),
    live,
    applied,
    manager: request.fieldManager,
    force,
    subresource: request.subresource,
    now: context.clock.now(),
    resetFields: resetFields(request),
  })
}

function resetFields(request: WriteRequest) {
  const { custom, kind } = request.info
  const hasStatusSubresource = subresource(request.info, 'status') !== undefined
  return resetFieldsFor({ subresource: request.subresource, custom, kind, hasStatusSubresource })
}
