/** Turns the ownership of a created object into that of an applied one. */
import { isConflict, isInvalid, type KubeClient, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { StaleViewError } from '../runtime-error.ts'
import { keyOf } from './ownership.ts'

/**
 * A server-side apply removes only fields that the same manager owned *by apply*. What was created belongs to the
 * manager by update, so before its first apply the entry is relabelled, once in the life of an object.
 *
 * Returns the resourceVersion after the change. *Errors*: `StaleViewError` when the object is not the one in `live`.
 *
 * @example
 * const resourceVersion = await migrateToApply(client, Deployments, live, 'webapp-operator', signal)
 */
export async function migrateToApply(
  client: KubeClient,
  resource: Resource,
  live: Stored<KubeObject>,
  fieldManager: string,
  signal: AbortSignal,
): Promise<string> {
  const key = keyOf(live)
  const { uid, resourceVersion } = live.metadata
  // The view keeps the operator's own entry only; its position among the others is known only to the server.
  const current = await client.get(resource, key, { signal })
  if (current.metadata.uid !== uid || current.metadata.resourceVersion !== resourceVersion)
    throw new StaleViewError(live)
  const index = (current.metadata.managedFields ?? []).findIndex(
    (entry) => entry.manager === fieldManager && entry.operation === 'Update' && (entry.subresource ?? '') === '',
  )
  if (index < 0) return resourceVersion
  const entry = `/metadata/managedFields/${index}`
  try {
    const patched = await client.patch(
      resource,
      key,
      {
        type: 'json',
        patch: [
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
          { op: 'test', path: `${entry}/manager`, value: fieldManager },
          { op: 'replace', path: `${entry}/operation`, value: 'Apply' },
        ],
      },
      { fieldManager, signal },
    )
    return patched.metadata.resourceVersion
  } catch (error) {
    if (isConflict(error) || isInvalid(error)) throw new StaleViewError(live, { cause: error })
    throw error
  }
}
