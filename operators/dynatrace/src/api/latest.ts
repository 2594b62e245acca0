/** The stored versions, the only ones that code outside of `api` uses. */
import type { ObjectOf } from '@reeve/crd'
import type { v1beta6 } from './dynakube/dynakube-crd.ts'
import { DynaKubeCrd } from './dynakube/dynakube-crd.ts'
import type { v1alpha2 } from './edgeconnect/edgeconnect-crd.ts'
import { EdgeConnectCrd } from './edgeconnect/edgeconnect-crd.ts'

/** A DynaKube as the operator works on it. */
export type DynaKube = ObjectOf<typeof v1beta6>
/** The desired state. */
export type DynaKubeSpec = DynaKube['spec']
/** What the operator observed. */
export type DynaKubeStatus = NonNullable<DynaKube['status']>

/** An EdgeConnect as the operator works on it. */
export type EdgeConnect = ObjectOf<typeof v1alpha2>
/** The desired state. */
export type EdgeConnectSpec = EdgeConnect['spec']
/** What the operator observed. */
export type EdgeConnectStatus = NonNullable<EdgeConnect['status']>

/** For clients, informers and listers. */
export const DynaKubes = DynaKubeCrd.resource('v1beta6')
/** For clients, informers and listers. */
export const EdgeConnects = EdgeConnectCrd.resource('v1alpha2')
