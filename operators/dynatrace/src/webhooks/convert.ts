/** The conversion webhook of both CRDs. */
import type { Convert } from '@reeve/crd'
import type { WebhookRoute } from '@reeve/runtime'
import { conversionWebhook, type KindConversion } from '@reeve/runtime/webhooks'
import { convertDynaKube, convertEdgeConnect } from '../api/conversion/convert.ts'
import { DynaKubeCrd } from '../api/dynakube/dynakube-crd.ts'
import { EdgeConnectCrd } from '../api/edgeconnect/edgeconnect-crd.ts'

/** Where the API server sends ConversionReviews. */
export const CONVERT_PATH = '/convert'

/** Responds to ConversionReviews for DynaKubes and EdgeConnects. */
export function convertRoute(): WebhookRoute {
  return conversionWebhook(CONVERT_PATH, [
    between(DynaKubeCrd, convertDynaKube),
    between(EdgeConnectCrd, convertEdgeConnect),
  ])
}

/** The API server never requests the version that an object has: such a request is a bug and gets an error. */
function between({ group, kind }: { readonly group: string; readonly kind: string }, convert: Convert): KindConversion {
  return {
    group,
    kind,
    convert: (object, toVersion) => {
      if (object.apiVersion === `${group}/${toVersion}`) throw new Error(`it already is ${toVersion}`)
      return convert(object, toVersion)
    },
  }
}
