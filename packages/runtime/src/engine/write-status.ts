/** Writes the status of a resource if it differs. */
import { isConflict, isNotFound, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { StaleViewError } from './engine-error.ts'
import { isJsonEqual } from './json-equal.ts'

/**
 * Replaces the status subresource.
 *
 * *Guarantees*: no request when `status` equals what `object` carries; never overwrites a status written after
 * `object` was read. Resolves to the written object, or to undefined when there was nothing to write or
 * the object does not exist. *Errors*: `StaleViewError` when the object changed meanwhile.
 *
 * @example
 * await writeStatus(client, WebApps, app, { phase: 'Ready' }, { signal })
 */
export async function writeStatus<T extends KubeObject & { readonly status?: unknown }>(
  client: KubeClient,
  resource: Resource<T>,
  object: Stored<T>,
  status: T['status'],
  options: { readonly signal?: AbortSignal; readonly fieldManager?: string } = {},
): Promise<Stored<T> | undefined> {
  if (isJsonEqual(object.status, status)) return undefined
  // managedFields in a cached object are incomplete; left out, the server keeps its own.
  const { managedFields: _managedFields, ...metadata } = object.metadata
  try {
    return await client.update(resource, { ...object, metadata, status }, { ...options, subresource: 'status' })
  } catch (error) {
    if (isConflict(error)) throw new StaleViewError(object, { cause: error })
    if (isNotFound(error)) return undefined
    throw error
  }
}
