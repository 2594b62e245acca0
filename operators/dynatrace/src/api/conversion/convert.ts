/** Conversion of both kinds between all their versions, through the stored one. */
import { type Convert, defineConversion } from '@reeve/crd'
import { DynaKubeCrd } from '../dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../edgeconnect/edgeconnect-crd.ts'
import { v1beta3Spoke } from './dynakube-v1beta3.ts'
import { v1beta4Spoke } from './dynakube-v1beta4.ts'
import { v1beta5Spoke } from './dynakube-v1beta5.ts'
import { v1alpha1Spoke } from './edgeconnect-v1alpha1.ts'

/** A DynaKube of any version in any other. */
export const convertDynaKube: Convert = defineConversion(DynaKubeCrd, 'v1beta6', {
  v1beta5: v1beta5Spoke,
  v1beta4: v1beta4Spoke,
  v1beta3: v1beta3Spoke,
})

/** An EdgeConnect of any version in any other. */
export const convertEdgeConnect: Convert = defineConversion(EdgeConnectCrd, 'v1alpha2', { v1alpha1: v1alpha1Spoke })
