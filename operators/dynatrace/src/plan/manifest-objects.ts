/** The objects of files that matter to a plan. */
import { ConfigMaps, type KubeObject, Namespaces, type Resource, Secrets } from '@reeve/kube'
import { API_KINDS } from '../api/kinds.ts'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import { ISTIO_KINDS } from '../controllers/dynakube/components/istio/resources.ts'
import { OWNED } from '../controllers/dynakube/controller.ts'

/** The kinds in files that make a difference to the operator, in the order in which they are needed. */
const KINDS: readonly Resource[] = [Namespaces, Secrets, ConfigMaps, DynaKubes, EdgeConnects]

/** The kinds that a plan may change. */
export const PLANNED_KINDS: readonly Resource[] = [Namespaces, DynaKubes, EdgeConnects, ...OWNED, ...ISTIO_KINDS]

/** Whether a plan uses an object. */
export function isOfInterest({ apiVersion, kind }: KubeObject): boolean {
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['']
  return KINDS.some((resource) => resource.kind === kind && resource.group === group)
}

/** A DynaKube or EdgeConnect of a file in the version that is stored; other objects as they are. */
export function inStoredVersion({ kind, version }: Resource, object: KubeObject): KubeObject {
  return API_KINDS.find(({ crd }) => crd.kind === kind)?.convert(object, version) ?? object
}
