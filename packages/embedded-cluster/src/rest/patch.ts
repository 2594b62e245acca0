/** The verb `patch`: JSON patch, merge patch, strategic merge patch and server-side apply. */
import { cloneJson, isJsonObject, type JsonObject, objectAt, stringAt } from '../json.ts'
import { storageKey, subresource } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { StatusError } from '../status-error.ts'
import { objectKey } from '../store/stored-object.ts'
import { badRequest, invalid, notFound, unsupportedMediaType, unsupportedPatchType } from './api-errors.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { createObject } from './create.ts'
import { defaultObject, requireKind, requireObject, strict } from './decode-object.ts'
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
  /** Whether the request itself named its field manager, which apply insists on. */
  readonly hasFieldManager: boolean
}

/** What a patch did. */
export interface PatchResult {
  readonly object: JsonObject
  /** True when an apply made a new object. */
  readonly created: boolean
}

/** Applies a patch. Only an apply may find nothing; it creates the object then. */
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
      requireKind(context.registry, patched, request.info)
      // The patched object shares its unchanged parts with the stored one, which nobody may touch.
      const draft = cloneJson(strict(request, patched, body.duplicates))
      return { object: defaultObject(context, request.info, draft), tracked: false }
    },
  })
  return { object, created: false }
}

const MAX_ATTEMPTS = 5

async function applyObject(
  context: RestContext,
  request: WriteRequest,
  body: ParsedBody,
  options: PatchOptions,
): Promise<PatchResult> {
  const applied = checkApplied(context, request, body, options)
  const { info, name = '' } = request
  const key = objectKey(request.namespace, name)
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (context.store.get(storageKey(info), key) === undefined) {
        if (request.subresource !== undefined) throw notFound(info, name)
        const draft = merged(context, request, applied, undefined, options)
        return { object: await createObject(context, request, draft, { tracked: true }), created: true }
      }
      const object = await changeObject(context, request, {
        isPatch: true,
        compute: (live) => ({ object: merged(context, request, applied, live, options), tracked: true }),
      })
      return { object, created: false }
    } catch (error) {
      // Somebody created or deleted the object since we looked: look again.
      const isRace =
        error instanceof StatusError &&
        (error.reason === 'AlreadyExists' || (error.reason === 'NotFound' && error.details?.name === name))
      if (!isRace || request.subresource !== undefined || attempt >= MAX_ATTEMPTS) throw error
    }
  }
}

/** 422 when an apply does not say who applies. */
export function requireFieldManager(given: string | null): void {
  if (given !== null && given !== '') return
  const message = 'Required value: is required for apply patch'
  const error = { field: 'fieldManager', reason: 'FieldValueRequired', message } as const
  throw invalid({ group: 'meta.k8s.io', kind: 'PatchOptions' }, '', [error])
}

function checkApplied(
  context: RestContext,
  request: WriteRequest,
  body: ParsedBody,
  options: PatchOptions,
): JsonObject {
  const { info, name = '' } = request
  if (!options.hasFieldManager) requireFieldManager(null)
  const applied = requireObject(body.value)
  const { apiVersion, kind } = applied
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || kind === '') {
    throw badRequest(
      `invalid object type: ${typeof apiVersion === 'string' ? apiVersion : '/'}, Kind=${String(kind ?? '')}`,
    )
  }
  requireKind(context.registry, applied, info)
  if (body.duplicates.length > 0) strict(request, {}, body.duplicates)
  const metadata = objectAt(applied, 'metadata')
  if (metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil')
  const given = stringAt(metadata, 'name') ?? ''
  if (given !== '' && given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  }
  // Unknown fields are left in: merging refuses them, because ownership of a field nobody knows cannot be recorded.
  return withoutForeignParts(request, { ...applied, metadata: { ...metadata, name } })
}

/** Drops what this path cannot write, so that nobody comes to own it by mistake. */
function withoutForeignParts(request: WriteRequest, applied: JsonObject): JsonObject {
  if (request.subresource === 'status') {
    const { name, namespace, ...others } = objectAt(applied, 'metadata')
    const metadata: JsonObject = { name, ...(namespace === undefined ? {} : { namespace }) }
    return {
      apiVersion: applied.apiVersion,
      kind: applied.kind,
      metadata: request.info.custom ? metadata : { ...metadata, ...others },
      ...(applied.status === undefined ? {} : { status: applied.status }),
    }
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
  // The version in an applied object is a precondition, not a field: without it there is nothing to compare.
  if (isJsonObject(draft.metadata) && live !== undefined) {
    const wanted = stringAt(objectAt(applied, 'metadata'), 'resourceVersion')
    draft.metadata.resourceVersion = wanted ?? objectAt(live, 'metadata').resourceVersion
  }
  return defaultObject(context, request.info, draft)
}
