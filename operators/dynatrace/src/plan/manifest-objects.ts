/** The objects of files that matter to a plan. */
import { ConfigMaps, type KubeObject, Namespaces, type Resource, Secrets } from '@reeve/kube'
import { putManifests as putObjects, type ScratchCluster } from '@reeve/plan'
import { API_KINDS } from '../api/kinds.ts'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'

/** The kinds in files that make a difference to the operator, in the order in which they are needed. */
const KINDS: readonly Resource[] = [Namespaces, Secrets, ConfigMaps, DynaKubes, EdgeConnects]

/** Whether a plan uses an object. */
export function isOfInterest({ apiVersion, kind }: KubeObject): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return KINDS.some((resource) => resource.kind === kind && resource.group === group)
}

/**
 * Creates or replaces the objects. DynaKubes and EdgeConnects are converted to the version that is stored.
 *
 * *Errors*: those of the server when it rejects one.
 *
 * @example
 * await putManifests(scratch, objects, { signal })
 */
export function putManifests(
  scratch: ScratchCluster,
  objects: readonly KubeObject[],
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  return putObjects(scratch, objects, { kinds: KINDS, convert: stored, signal })
}

/** In the version that is stored. */
function stored({ kind, version }: Resource, object: KubeObject): KubeObject {
  return API_KINDS.find(({ crd }) => crd.kind === kind)?.convert(object, version) ?? object
}
