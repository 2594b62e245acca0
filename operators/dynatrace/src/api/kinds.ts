/** Both kinds, with the operations on objects of any version. */
import type { AnyCrd, Convert } from '@reeve/crd'
import type { KubeObject } from '@reeve/kube'
import { convertDynaKube, convertEdgeConnect } from './conversion/convert.ts'
import { DynaKubeCrd } from './dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from './edgeconnect/edgeconnect-crd.ts'
import type { LookupsFor } from './validation/rule.ts'
import { type Judgement, judgeDynaKube, judgeEdgeConnect } from './validation/validate.ts'

/** The API group of all kinds. */
export const API_GROUP = 'dynatrace.com'

/** A kind and its operations. */
export interface ApiKind {
  readonly crd: AnyCrd
  readonly convert: Convert
  /** The verdict of admission on a new object that the schema admits. */
  readonly judge: (object: KubeObject, lookupsFor: LookupsFor) => Promise<Judgement>
}

/** Both kinds. */
export const API_KINDS: readonly ApiKind[] = [
  { crd: DynaKubeCrd, convert: convertDynaKube, judge: judgeDynaKube },
  { crd: EdgeConnectCrd, convert: convertEdgeConnect, judge: judgeEdgeConnect },
]
