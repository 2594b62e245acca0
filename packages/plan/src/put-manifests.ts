/** The objects of files, put into a scratch cluster as `kubectl apply` would put them into a real one. */
import { isRecord, type KubeObject, type ObjectMeta, type Resource, type Stored } from '@reeve/kube'
import type { ScratchCluster } from './scratch-cluster.ts'

/** Where kubectl keeps the configuration that it applied last. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** Options of {@link putManifests}. */
export interface PutOptions {
  /** The kinds to take, in the order in which they are needed. */
  readonly kinds: readonly Resource[]
  /** An object in the version of its resource. @default the version in the file */
  readonly convert?: (resource: Resource, object: KubeObject) => KubeObject
  readonly signal: AbortSignal
}

/**
 * Creates or replaces the objects.
 *
 * *Errors*: those of the server when it rejects one.
 *
 * @example
 * await putManifests(scratch, objects, { kinds: [Namespaces, WebApps], signal })
 */
export async function putManifests(
  scratch: ScratchCluster,
  objects: readonly KubeObject[],
  { kinds, convert = (_resource, object) => object, signal }: PutOptions,
): Promise<void> {
  for (const resource of kinds) {
    for (const given of objects.filter((object) => isOf(resource, object))) {
      const { status: _reported, ...object } = convert(resource, given) as KubeObject & { readonly status?: unknown }
      const { namespace, name = '' } = object.metadata
      const live = scratch.view.get(resource, namespace === undefined ? { name } : { namespace, name })
      const write = { signal, fieldManager: 'kubectl-client-side-apply' }
      if (live === undefined) await scratch.client.create(resource, object, write)
      else await scratch.client.update(resource, replacing(live, object), write)
    }
  }
}

/** Whether an object is of a resource, in any version. */
export function isOf(resource: Resource, { apiVersion, kind }: KubeObject): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return resource.kind === kind && resource.group === group
}

/** Labels and annotations of other managers are kept, everything else is as in the file. */
function replacing(live: Stored<KubeObject>, object: KubeObject): KubeObject {
  const before = lastApplied(live)
  const merge = (field: 'labels' | 'annotations') => {
    const kept = Object.entries(live.metadata[field] ?? {}).filter(([key]) => !Object.hasOwn(before[field] ?? {}, key))
    const map = { ...Object.fromEntries(kept), ...object.metadata[field] }
    return Object.keys(map).length > 0 && { [field]: map }
  }
  const { managedFields: _owners, labels: _labels, annotations: _annotations, ...rest } = live.metadata
  const { status } = live as { readonly status?: unknown }
  const metadata: ObjectMeta = { ...rest, ...merge('labels'), ...merge('annotations') }
  return { ...object, metadata, ...(status !== undefined && { status }) }
}

/** The metadata of the file from which the live object was made. */
function lastApplied({ metadata }: KubeObject): ObjectMeta {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? '{}')
    return isRecord(value) && isRecord(value.metadata) ? value.metadata : {}
  } catch {
    // Not written by kubectl: nothing is known to have been removed from the file.
    return {}
  }
}
