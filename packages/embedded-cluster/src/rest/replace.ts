/** The verb `update`: replaces an object by the one in the body. */

import { metadataOf } from '../api/object-meta.ts'
import { cloneJson, type JsonObject, stringAt } from '../json.ts'
import { storageKey } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { objectKey } from '../store/stored-object.ts'
import type { RestContext, WriteRequest } from './context.ts'
import { createObject } from './create.ts'
import { decodeObject } from './decode-object.ts'
import { changeObject, requireSameObject } from './update.ts'

/** Replaces the object, or creates it for the few kinds that allow PUT to do so. */
export async function replaceObject(
  context: RestContext,
  request: WriteRequest,
  body: ParsedBody,
): Promise<{ object: JsonObject; created: boolean }> {
  const draft = decodeObject(context, request, body)
  const { info, name = '' } = request
  const metadata = metadataOf(draft)
  requireSameObject(request, metadata)
  const strategy = context.strategyOf(info)
  const isMissing = context.store.get(storageKey(info), objectKey(request.namespace, name)) === undefined
  if (isMissing && strategy.createOnUpdate === true && request.subresource === undefined) {
    delete metadata.resourceVersion
    return { object: await createObject(context, request, draft), created: true }
  }
  const isPinned = (stringAt(metadata, 'resourceVersion') ?? '') !== ''
  const object = await changeObject(context, request, {
    requiresVersion: !(strategy.unconditionalUpdate ?? !info.custom),
    // A conflict without a version is retried, so the original must not be modified by the first attempt.
    compute: () => ({ object: isPinned ? draft : cloneJson(draft), tracked: false }),
  })
  return { object, created: false }
}
