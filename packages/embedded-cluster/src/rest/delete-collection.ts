/** The verb `deletecollection`. */

import { nameOf, namespaceOf } from '../api/object-meta.ts'
import type { JsonObject } from '../json.ts'
import { StatusError } from '../status-error.ts'
import type { WriteRequest } from './context.ts'
import { type DeleteOptions, deleteObject } from './delete.ts'
import { listObjects } from './list.ts'
import type { ServerContext } from './server-context.ts'

/** Deletes every selected object; objects that were deleted meanwhile are skipped. */
export async function deleteCollection(
  context: ServerContext,
  request: WriteRequest,
  options: DeleteOptions,
  query: URLSearchParams,
): Promise<readonly JsonObject[]> {
  const list = await listObjects(context, request.info, request.namespace, query, request.signal)
  const deleted: JsonObject[] = []
  for (const stored of list.items) {
    const one = { ...request, name: nameOf(stored.object), namespace: namespaceOf(stored.object) }
    try {
      const deletion = await deleteObject(context, one, { ...options, isPartOfCollection: true })
      deleted.push(deletion.object)
    } catch (error) {
      if (!(error instanceof StatusError) || error.code !== 404) throw error
    }
  }
  return deleted
}
