/** The objects of each version, as converters see them. */

import type { ObjectOf } from '@reeve/crd'
import type { KubeObject, ObjectMeta } from '@reeve/kube'
import type { v1beta3, v1beta4, v1beta5 } from '../dynakube/dynakube-crd.ts'
import type { v1alpha1 } from '../edgeconnect/edgeconnect-crd.ts'

/** A DynaKube v1beta3. */
export type DynaKubeV1Beta3 = ObjectOf<typeof v1beta3>
/** A DynaKube v1beta4. */
export type DynaKubeV1Beta4 = ObjectOf<typeof v1beta4>
/** A DynaKube v1beta5. */
export type DynaKubeV1Beta5 = ObjectOf<typeof v1beta5>
/** An EdgeConnect v1alpha1. */
export type EdgeConnectV1Alpha1 = ObjectOf<typeof v1alpha1>

/** The schemas admit an object without a spec; converters then work on `missing`. */
export function specOf<T extends KubeObject & { readonly spec: object }>(object: T, missing: T['spec']): T['spec'] {
  const { spec }: { readonly spec?: T['spec'] } = object
  return spec ?? missing
}

/** Metadata with other annotations, and without the member when there are none. */
export function withAnnotations(metadata: ObjectMeta, annotations: Readonly<Record<string, string>>): ObjectMeta {
  const { annotations: _, ...rest } = metadata
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations }
}

/** An object without some of its members. */
export function omit<T extends object, K extends keyof T>(object: T, ...names: readonly K[]): Omit<T, K> {
  const copy: Partial<T> = { ...object }
  for (const name of names) delete copy[name]
  // What has been deleted is exactly what the type leaves out.
  return copy as Omit<T, K>
}
