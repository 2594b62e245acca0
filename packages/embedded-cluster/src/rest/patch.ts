/** The verb `patch`: JSON patch, merge patch, strategic merge patch and server-side apply. */

import {
  badRequest,
  conflict,
  invalid,
  notFound,
  unsupportedMediaType,
  unsupportedPatchType,
} from '../api/api-errors.ts'
import { cloneJson, isJsonObject, type JsonObject, type JsonValue, objectAt, stringAt } from '../json.ts'
import { jsonKind } from '../patch/undecodable.ts'
import { apiVersionOf, type ResourceInfo, storageKey, subresource } from '../registry/resource-info.ts'
import { plainForm } from '../schema/go-format.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { StatusError } from '../status-error.ts'
import { objectKey } from '../store/stored-object.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { createObject } from './create.ts'
import { defaultObject, duplicateFields, requireKind, strict } from './decode-object.ts'
import { type PatchType, patchDocument } from './patch-document.ts'
import { mergeApplied } from './schema-steps.ts'
import { changeObject } from './update.ts'

/** Media types of patches. */
export const patchTypes: Readonly<Record<string, PatchType | 'apply'>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

const customPatchTypes = Object.keys(patchTypes).filter((type) => patchTypes[type] !== 'strategic')

/** Options of {@link patchObject}. */
export interface PatchOptions {
  /** The media type of the body. */
  readonly mediaType: string
  /** Take over fields that other managers own. */
  readonly force: boolean
  /** Whether the request itself has a field manager, which apply requires. */
  readonly hasFieldManager: boolean
}

/** The result of a patch. */
export interface PatchResult {
  readonly object: JsonObject
  /** True when an apply created the object. */
  readonly created: boolean
}

/** Applies a patch. Only an apply creates a missing object. */
export async function patchObject(
  context: RestContext,
  request: WriteRequest,
  body: ParsedBody,
  options: PatchOptions,
): Promise<PatchResult> {
  const type = patchTypes[options.mediaType]
  if (type === undefined || (type === 'strategic' && request.info.custom)) {
    throw request.info.custom ? unsupportedMediaType(customPatchTypes) : unsupportedPatchType()
  }
  if (type === 'apply') return applyObject(context, request, body, options)
  const object = await changeObject(context, request, {
    isPatch: true,
    compute: (live) => {
      const patched = patchDocument(type, request.info, live, body.value)
      return { object: readPatched(context, request, type, body, patched), tracked: false }
    },
  })
  return { object, created: false }
}

/** Decodes the result of a patch. If it is invalid, the error refers to the patch. */
function readPatched(
  context: RestContext,
  request: WriteRequest,
  type: PatchType,
  body: ParsedBody,
  patched: JsonObject,
): JsonObject {
  try {
    requireKind(context.registry, patched, request.info)
    const problems = type === 'json' ? jsonPatchProblems(body) : duplicateFields(body)
    // The patched object shares unchanged parts with the stored one, which must not be modified.
    return defaultObject(context, request.info, cloneJson(strict(request, patched, problems)))
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'BadRequest') throw error
    const why = reasonOf(error)
    // The real server reports the patch of a strategic merge, and the result of the others.
    const value = type === 'strategic' ? plainForm(body.value) : JSON.stringify(patched)
    const message = `Invalid value: ${JSON.stringify(value)}: ${why}`
    throw invalid({ group: '', kind: '' }, '', [{ field: 'patch', reason: 'FieldValueInvalid', message }])
  }
}

const jsonPatchFields = new Set(['op', 'path', 'from', 'value'])

/** Fields of the operations themselves that are duplicate or unknown. */
function jsonPatchProblems(body: ParsedBody): readonly string[] {
  const operations = Array.isArray(body.value) ? body.value : []
  const unknown = operations.flatMap((operation, index) =>
    Object.keys(isJsonObject(operation) ? operation : {})
      .filter((field) => !jsonPatchFields.has(field))
      .map((field) => `json patch unknown field "[${index}].${field}"`),
  )
  return [...body.duplicates.map((field) => `json patch duplicate field "${field}"`), ...unknown]
}

const MAX_ATTEMPTS = 5

async function applyObject(
  context: RestContext,
  request: WriteRequest,
  body: ParsedBody,
  options: PatchOptions,
): Promise<PatchResult> {
  const applied = checkApplied(request, body, options)
  const { info, name = '' } = request
  const key = objectKey(request.namespace, name)
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (context.store.get(storageKey(info), key) === undefined) {
        if (request.subresource !== undefined) throw notFound(info, name)
        requireNoUid(request, applied)
        const draft = merged(context, request, withoutVersion(applied), undefined, options)
        return { object: await createObject(context, request, draft, { tracked: true }), created: true }
      }
      const object = await changeObject(context, request, {
        isPatch: true,
        compute: (live) => ({ object: merged(context, request, applied, live, options), tracked: true }),
      })
      return { object, created: false }
    } catch (error) {
      // The object was created or deleted meanwhile: retry.
      const isRace =
        error instanceof StatusError &&
        (error.reason === 'AlreadyExists' || (error.reason === 'NotFound' && error.details?.name === name))
      if (!isRace || request.subresource !== undefined || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

/** 409 when an apply that would create specifies the uid of an object that no longer exists. */
function requireNoUid({ info, name = '' }: WriteRequest, applied: JsonObject): void {
  const uid = stringAt(objectAt(applied, 'metadata'), 'uid') ?? ''
  if (uid === '') return
  throw conflict(info, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`)
}

/** A resourceVersion has no meaning for an object that does not exist yet. */
function withoutVersion(applied: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = objectAt(applied, 'metadata')
  return { ...applied, metadata }
}

/** 422 when a patch other than apply sets `force`. */
export function refuseForce(): never {
  const message = 'Forbidden: may not be specified for non-apply patch'
  const error = { field: 'force', reason: 'FieldValueForbidden', message } as const
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [error])
}

/** 422 when an apply has no field manager. */
export function requireFieldManager(given: string | null): void {
  if (given !== null && given !== '') return
  const message = 'Required value: is required for apply patch'
  const error = { field: 'fieldManager', reason: 'FieldValueRequired', message } as const
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [error])
}

function checkApplied(request: WriteRequest, body: ParsedBody, options: PatchOptions): JsonObject {
  const { info, name = '' } = request
  if (!options.hasFieldManager) requireFieldManager(null)
  const applied = requireConfiguration(body.value, info)
  reportDuplicates(request, body)
  const { managedFields, ...metadata } = objectAt(applied, 'metadata')
  if ((managedFields ?? null) !== null) throw badRequest('metadata.managedFields must be nil')
  const given = stringAt(metadata, 'name') ?? ''
  if (given !== '' && given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
  // Unknown fields are kept: merging rejects them, because their ownership cannot be recorded.
  return withoutForeignParts(request, { ...applied, metadata: { ...metadata, name } })
}

/** Whatever its format, the real server reads the configuration of an apply as YAML. */
function reportDuplicates(request: WriteRequest, body: ParsedBody): void {
  if (body.duplicates.length === 0 || request.fieldValidation === 'Ignore') return
  const keys = (body.duplicateKeys ?? []).join('\n  ')
  const problem = `error converting YAML to JSON: yaml: unmarshal errors:\n  ${keys}`
  if (request.fieldValidation === 'Strict') throw badRequest(`error strict decoding YAML: ${problem}`)
  request.warn(problem)
}

/** The configuration of an apply: an object of the kind and version of the URL. */
function requireConfiguration(value: JsonValue, info: ResourceInfo): JsonObject {
  const applied = value ?? {}
  if (!isJsonObject(applied)) {
    const problem = `json: cannot unmarshal ${jsonKind(applied)} into Go value of type map[string]interface {}`
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${problem}`)
  }
  const apiVersion = stringAt(applied, 'apiVersion') ?? ''
  const kind = stringAt(applied, 'kind') ?? ''
  if (apiVersion !== apiVersionOf(info) || kind !== info.kind) {
    throw badRequest(`invalid object type: ${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`)
  }
  return applied
}

/** Drops fields that this path cannot write, so that the manager does not own them. */
function withoutForeignParts(request: WriteRequest, applied: JsonObject): JsonObject {
  if (request.subresource === 'status') {
    const { apiVersion, kind, metadata, status } = applied
    return { apiVersion, kind, metadata, ...(status === undefined ? {} : { status }) }
  }
  if (subresource(request.info, 'status') === undefined) return applied
  const { status: _, ...rest } = applied
  return rest
}

function merged(
  context: RestContext,
  request: WriteRequest,
  applied: JsonObject,
  live: JsonObject | undefined,
  options: PatchOptions,
): JsonObject {
  const draft = cloneJson(mergeApplied(context, request, applied, live, options.force))
  // The resourceVersion of an applied object is a precondition, not a field: it is not merged.
  if (isJsonObject(draft.metadata) && live !== undefined) {
    const wanted = stringAt(objectAt(applied, 'metadata'), 'resourceVersion')
    draft.metadata.resourceVersion = wanted ?? objectAt(live, 'metadata').resourceVersion
  }
  try {
    return defaultObject(context, request.info, draft, { keepNulls: true })
  } catch (error) {
    if (!(error instanceof StatusError) || error.reason !== 'BadRequest') throw error
    throw unconvertible(request.info, applied, error)
  }
}

/**
 * 500: a value that the schema allows but the kind's Go type does not is found so late that it is not a client error.
 */
function unconvertible(info: ResourceInfo, applied: JsonObject, error: StatusError): StatusError {
  const { namespace = '', name } = objectAt(applied, 'metadata')
  const type = `${info.group}/${info.version}, Kind=${info.kind}`
  const why = reasonOf(error)
    .replace(/Go struct field \S+ of type/, 'Go value of type')
    .replace(/^(?=illegal base64)/, 'error decoding from json: ')
  const subject = `failed to convert new object (${String(namespace)}/${String(name)}; ${type}) to proper version`
  const message = `${subject}: unable to convert unstructured object to ${type}: ${why}`
  return new StatusError(500, '', message, undefined, { cause: error })
}

/** The error of an object that cannot be decoded, without its kind. */
function reasonOf(error: StatusError): string {
  return error.message.replace(/^\S+ in version "[^"]*" cannot be handled as a \S+: /, '')
}
