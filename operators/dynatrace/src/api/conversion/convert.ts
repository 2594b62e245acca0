/** Conversion of both kinds between all their versions, through the stored one. */
import { type AnyCrd, type Convert, CrdError, defineConversion } from '@reeve/crd'
import { quantityProblems } from '../core/quantity-problems.ts'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../edgeconnect/edgeconnect-crd.ts'
import { schemaOf } from '../schema-of.ts'
import { v1beta3Spoke } from './dynakube-v1beta3.ts'
import { v1beta4Spoke } from './dynakube-v1beta4.ts'
import { v1beta5Spoke } from './dynakube-v1beta5.ts'
import { v1alpha1Spoke } from './edgeconnect-v1alpha1.ts'

/** Converts a DynaKube of any version to any other. */
export const convertDynaKube: Convert = withValidQuantities(
  DynaKubeCrd,
  defineConversion(DynaKubeCrd, 'v1beta6', {
    v1beta5: v1beta5Spoke,
    v1beta4: v1beta4Spoke,
    v1beta3: v1beta3Spoke,
  }),
)

/** Converts an EdgeConnect of any version to any other. */
export const convertEdgeConnect: Convert = withValidQuantities(
  EdgeConnectCrd,
  defineConversion(EdgeConnectCrd, 'v1alpha2', { v1alpha1: v1alpha1Spoke }),
)

/** A malformed quantity would be stored, and fail later and elsewhere; it fails the conversion, naming the field. */
function withValidQuantities(crd: AnyCrd, convert: Convert): Convert {
  return (object, toVersion) => {
    const converted = convert(object, toVersion)
    if (converted === object) return object
    const [problem] = quantityProblems(schemaOf(crd, object.apiVersion.split('/')[1] ?? ''), object)
    if (problem === undefined) return converted
    const { namespace, name } = object.metadata
    const who = `${crd.kind} ${namespace ? `${namespace}/` : ''}${name ?? ''}`
    throw new CrdError('CRD_CONVERSION_FAILED', `${who}: ${problem.field}: ${problem.message}`)
  }
}
