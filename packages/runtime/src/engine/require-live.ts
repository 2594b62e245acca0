/** Confirms a view with the API server, before an effect that a stale view must not have. */
import { isNotFound, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { StaleViewError } from '../runtime-error.ts'
import { keyOf } from './ownership.ts'

/**
 * Reads the metadata of an object, one request.
 *
 * *Errors*: `StaleViewError` when it was deleted, is being deleted, was created again or has another generation, which
 * asks for something else than this view.
 */
export async function requireLive(
  client: KubeClient,
  resource: Resource,
  object: Stored<KubeObject>,
  { signal }: { readonly signal?: AbortSignal },
): Promise<void> {
  try {
    const { metadata } = await client.get(resource, keyOf(object), { ...(signal && { signal }), metadataOnly: true })
    const { uid, generation } = object.metadata
    const isSeen = metadata.uid === uid && metadata.generation === generation
    if (isSeen && metadata.deletionTimestamp === undefined) return
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  throw new StaleViewError(object)
}
