/** Creates or replaces an object: what a user means by applying a file, whatever is there. */
import { apiVersionOf, isConflict, isNotFound, type KubeClient, type KubeObject } from '@reeve/kube'
import type { PlainObject } from '../operator-under-test.ts'

const MAX_CONFLICTS = 5

/** Replaces everything but the status; tries again when someone else writes meanwhile. */
export async function put(client: KubeClient, object: KubeObject & PlainObject): Promise<void> {
  const { name = '', namespace } = object.metadata
  const resource = await client.resourceFor(object)
  const key = { name, ...(namespace !== undefined && { namespace }) }
  for (let attempt = 0; ; attempt++) {
    try {
      const live = await client.get(resource, key)
      const { resourceVersion } = live.metadata
      const { status } = live as KubeObject & { readonly status?: unknown }
      const replaced = { ...object, metadata: { ...live.metadata, ...object.metadata, resourceVersion } }
      await client.update(resource, (status === undefined ? replaced : { ...replaced, status }) as KubeObject)
      return
    } catch (error) {
      if (isNotFound(error)) {
        await client.create(resource, { ...object, apiVersion: apiVersionOf(resource) })
        return
      }
      if (!isConflict(error) || attempt >= MAX_CONFLICTS) throw error
    }
  }
}
