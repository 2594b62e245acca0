/** The verb `create`. */

import { alreadyExists, badRequest, invalid } from '../api/api-errors.ts'
import { generateName, metadataOf, nameOf, newUid, validateMetadata } from '../api/object-meta.ts'
import { timestamp } from '../clock.ts'
import { type JsonObject, stringAt } from '../json.ts'
import { noEffectWarning } from '../registry/builtin-resources.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { storageApiVersion, storageKey, subresource } from '../registry/resource-info.ts'
import { StatusError } from '../status-error.ts'
import { objectKey } from '../store/stored-object.ts'
import { admitMutating, admitValidating } from './admit.ts'
import { type RestContext, strategyContext, toRequestVersion, toVersion, type WriteRequest } from './context.ts'
import { defaultObject } from './decode-object.ts'
import { recordOwnership, validateObject } from './schema-steps.ts'

const MAX_NAME_ATTEMPTS = 8

/** Variations of a create for other verbs. */
export interface CreateOptions {
  /** Whether the draft already has its managedFields, because it was applied. @default false */
  readonly tracked?: boolean
}

/**
 * Stores a new object. `draft` is decoded and defaulted, in the version of the request, and must not be used
 * afterwards. Resolves to the stored object in the version of the request; for a dry run, to what would have been
 * stored.
 */
export async function createObject(
  context: RestContext,
  request: WriteRequest,
  draft: JsonObject,
  options: CreateOptions = {},
): Promise<JsonObject> {
  const { info } = request
  const strategy = context.strategyOf(info)
  prepareMetadata(request, draft)
  if (subresource(info, 'status') !== undefined && strategy.keepsStatusOnCreate !== true) delete draft.status
  const tracked = options.tracked === true ? draft : recordOwnership(context, request, draft, undefined)
  const admitted = await admitMutating(context, request, {
    operation: 'CREATE',
    object: tracked,
    oldObject: undefined,
    name: nameOf(tracked) || undefined,
  })
  // A webhook may have added containers or ports, which need their defaults too.
  const object = admitted === tracked ? tracked : defaultObject(context, info, admitted)
  fillSystemFields(context, request, strategy, object)
  const chosenName = nameOf(object)
  const prefix = chosenName === '' ? stringAt(metadataOf(object), 'generateName') : undefined
  for (let attempt = 1; ; attempt += 1) {
    if (prefix !== undefined && prefix !== '') metadataOf(object).name = generateName(prefix, context.random)
    try {
      return await store(context, request, strategy, object)
    } catch (error) {
      const isCollision = error instanceof StatusError && error.reason === 'AlreadyExists'
      if (prefix === undefined || !isCollision || attempt >= MAX_NAME_ATTEMPTS) throw error
    }
  }
}

function prepareMetadata(request: WriteRequest, draft: JsonObject): void {
  const metadata = metadataOf(draft)
  const { info, namespace } = request
  if (info.namespaced) {
    const given = stringAt(metadata, 'namespace') ?? ''
    if (given !== '' && given !== namespace) {
      throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
    }
    if (namespace !== undefined) metadata.namespace = namespace
  } else delete metadata.namespace
  if ((stringAt(metadata, 'resourceVersion') ?? '') !== '') {
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
  }
  for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink', 'resourceVersion']) {
    delete metadata[field]
  }
}

function fillSystemFields(
  context: RestContext,
  request: WriteRequest,
  strategy: KindStrategy,
  object: JsonObject,
): void {
  const metadata = metadataOf(object)
  metadata.uid = newUid(context.random)
  metadata.creationTimestamp = timestamp(context.clock.now())
  if (request.info.custom || strategy.generation !== undefined) metadata.generation = 1
  else delete metadata.generation
}

async function store(
  context: RestContext,
  request: WriteRequest,
  strategy: KindStrategy,
  object: JsonObject,
): Promise<JsonObject> {
  const { info } = request
  const name = nameOf(object)
  const collection = storageKey(info)
  const key = objectKey(request.namespace, name)
  const forStrategy = strategyContext(context, request.dryRun)
  strategy.prepareForCreate?.(object, forStrategy)
  let isStored = false
  try {
    const errors = [
      ...validateMetadata(info, strategy, object, undefined),
      ...validateObject(info, object, undefined),
      ...(strategy.validate?.(object, undefined) ?? []),
    ]
    if (errors.length > 0) throw invalid(info.storedAs ?? info, name, errors)
    for (const text of strategy.warnings?.(object, undefined) ?? []) request.warn(text)
    await admitValidating(context, request, { operation: 'CREATE', object, oldObject: undefined, name })
    const stored = await toVersion(context, object, storageApiVersion(info), request.signal)
    const existing = context.store.get(collection, key)
    if (existing !== undefined) {
      throw alreadyExists(info, name, metadataOf(existing.object).deletionTimestamp !== undefined)
    }
    if (request.dryRun) return object
    request.signal.throwIfAborted()
    const committed = context.store.commit({ collection, key, expected: 0, object: stored })
    if (committed === 'conflict') throw alreadyExists(info, name)
    isStored = true
    const warning = info.custom ? undefined : noEffectWarning(info)
    if (warning !== undefined) request.warn(warning)
    return await toRequestVersion(context, request, committed.object)
  } finally {
    if (!isStored) strategy.release?.(object, forStrategy)
  }
}
