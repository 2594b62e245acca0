/** @module The Dynatrace operator. */
export { CRDS, crdManifests, installation } from './api/crd-manifests.ts'
export { DynaKubeCrd } from './api/dynakube/dynakube-crd.ts'
export { EdgeConnectCrd } from './api/edgeconnect/edgeconnect-crd.ts'
export * from './api/latest.ts'
