/** The objects of files, put into a scratch cluster as `kubectl apply` would put them into a real one. */
import {
  ConfigMaps,
  isRecord,
  type KubeObject,
  Namespaces,
  type ObjectMeta,
  type Resource,
  Secrets,
  type Stored,
} from '@reeve/kube'
import { API_KINDS } from '../api/kinds.ts'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import type { ScratchCluster } from './scratch-cluster.ts'

/** Where kubectl keeps what it was told last. */
export const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** The kinds in files that make a difference to the operator, in the order in which they are needed. */
const KINDS: readonly Resource[] = [Namespaces, Secrets, ConfigMaps, DynaKubes, EdgeConnects]

/** Whether a plan takes notice of an object. */
export const isOfInterest = (object: KubeObject): boolean => resourceOf(object) !== undefined

function resourceOf({ apiVersion, kind }: KubeObject): Resource | undefined {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return KINDS.find((resource) => resource.kind === kind && resource.group === group)
}

/**
 * Creates or replaces the objects. DynaKubes and EdgeConnects are converted to the version that is stored.
 *
 * *Errors*: what the server says when it refuses one.
 *
 * @example
 * await putManifests(scratch, objects, { signal })
 */
export async function putManifests(
  scratch: ScratchCluster,
  objects: readonly KubeObject[],
  options: { readonly signal: AbortSignal },
): Promise<void> {
  for (const resource of KINDS) {
    for (const given of objects.filter((object) => resourceOf(object) === resource)) {
      const { status: _reported, ...object } = stored(resource, given) as KubeObject & { readonly status?: unknown }
      const { namespace, name = '' } = object.metadata
      const live = scratch.view.get(resource, namespace === undefined ? { name } : { namespace, name })
      const write = { ...options, fieldManager: 'kubectl-client-side-apply' }
      if (live === undefined) await scratch.client.create(resource, object, write)
      else await scratch.client.update(resource, replacing(live, object), write)
    }
  }
}

/** In the version that is stored. */
function stored({ kind, version }: Resource, object: KubeObject): KubeObject {
  return API_KINDS.find(({ crd }) => crd.kind === kind)?.convert(object, version) ?? object
}

/** The object in the place of the live one: others' labels and annotations stay, everything else is as in the file. */
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
    // Somebody else wrote it: nothing is known to have been taken out of the file.
    return {}
  }
}
