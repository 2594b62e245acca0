/** How the CRDs are installed: converted by the operator's webhook. */
import { type AnyCrd, type CrdManifest, crdManifest, type ManifestOptions } from '@reeve/crd'
import { DynaKubeCrd } from './dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './edgeconnect/edgeconnect-crd.ts'

/** Both CRDs. */
export const CRDS: readonly AnyCrd[] = [DynaKubeCrd, EdgeConnectCrd]

/** The namespace of the committed files; the chart puts its own in its place. */
const NAMESPACE = 'dynatrace'

/** What the installation adds to the definition of a CRD. */
export function installation(namespace = NAMESPACE): ManifestOptions {
  return {
    // Tools that recognise the CRDs of the operator check this annotation.
    annotations: { 'controller-gen.kubebuilder.io/version': 'v0.19.0' },
    conversion: {
      service: { namespace, name: 'dynatrace-webhook', path: '/convert' },
      reviewVersions: ['v1', 'v1beta1'],
    },
  }
}

/** The CRDs as objects, for an operator in `namespace`. */
export function crdManifests(namespace?: string): readonly CrdManifest[] {
  return CRDS.map((crd) => crdManifest(crd, installation(namespace)))
}
