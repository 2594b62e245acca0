/** The kinds of a plan, and the scratch cluster for them. */
import { type Clock, Namespaces, type Resource } from '@reeve/kube'
import { ScratchCluster } from '@reeve/plan'
import { crdManifests } from '../api/crd-manifests.ts'
import { DynaKubes, EdgeConnects } from '../api/latest.ts'
import { ISTIO_KINDS } from '../controllers/dynakube/components/istio/resources.ts'
import { OWNED } from '../controllers/dynakube/controller.ts'
import { FIELD_MANAGER } from '../controllers/field-manager.ts'

/** The kinds that a plan is about. */
export const PLANNED_KINDS: readonly Resource[] = [Namespaces, DynaKubes, EdgeConnects, ...OWNED, ...ISTIO_KINDS]

/** A scratch cluster with both CRDs, and with the kinds of Istio where the cluster serves them. */
export function startScratchCluster(clock: Clock, hasIstio: boolean): Promise<ScratchCluster> {
  const kinds = hasIstio ? PLANNED_KINDS : PLANNED_KINDS.filter((kind) => !ISTIO_KINDS.includes(kind))
  return ScratchCluster.start({ clock, fieldManager: FIELD_MANAGER, kinds, crds: crdManifests() })
}
