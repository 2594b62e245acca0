/** The objects of files, put into a scratch cluster as `kubectl apply` would put them into a real one. */
import { groupOf, type KubeObject, type Resource, type Stored } from '@reeve/kube'
import { applied, lastApplied } from './apply-manifest.ts'
import type { ScratchCluster } from './scratch-cluster.ts'

/** Options of {@link putManifests}. */
export interface PutOptions {
  /** The kinds to take, in the order in which they are needed. */
  readonly kinds: readonly Resource[]
  /** An object in the version of its resource. @default the scratch cluster converts it, as its CRD says */
  readonly convert?: (resource: Resource, object: KubeObject) => KubeObject
  /** Whether they replace what exists, as `kubectl replace` does. @default they are applied */
  readonly replaces?: boolean
  readonly signal: AbortSignal
}

/**
 * Creates the objects, or applies them to those that exist: fields that others set are kept.
 *
 * *Errors*: those of the server when it rejects one.
 *
 * @example
 * await putManifests(scratch, objects, { kinds: [Namespaces, WebApps], signal })
 */
export async function putManifests(
  scratch: ScratchCluster,
  objects: readonly KubeObject[],
  { kinds, convert = (_resource, object) => object, replaces = false, signal }: PutOptions,
): Promise<void> {
  for (const stored of kinds) {
    for (const given of objects.filter((object) => isOf(stored, object))) {
      const { status: _reported, ...object } = convert(stored, given) as KubeObject & { readonly status?: unknown }
      const resource = scratch.served(stored, object)
      const file = { ...object, apiVersion: apiVersionOf(resource) }
      const { namespace, name = '' } = object.metadata
      const key = namespace === undefined ? { name } : { namespace, name }
      const write = { signal, fieldManager: 'kubectl-client-side-apply' }
      if (scratch.view.get(stored, key) === undefined) await scratch.client.create(resource, file, write)
      else {
        const live: Stored<KubeObject> = await scratch.client.get(resource, key, { signal })
        const before = inVersion(lastApplied(live), (one) => convert(stored, one))
        // What is absent in a file that replaces the object was removed from it; labels may still be of others.
        const last = replaces ? { ...live, metadata: before?.metadata ?? {} } : before
        await scratch.client.update(resource, applied(live, file, last), write)
      }
    }
  }
}

/** Whether an object is of a resource, in any version. */
export function isOf(resource: Resource, { apiVersion, kind }: KubeObject): boolean {
  return resource.kind === kind && resource.group === groupOf(apiVersion)
}

/** As it is, if it cannot be converted: anyone may have written it. */
function inVersion(
  object: KubeObject | undefined,
  convert: (object: KubeObject) => KubeObject,
): KubeObject | undefined {
  if (object === undefined) return undefined
  try {
    return convert(object)
  } catch {
    return object
  }
}

const apiVersionOf = ({ group, version }: Resource): string => (group === '' ? version : `${group}/${version}`)
