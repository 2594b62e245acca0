/** Fields at the top of the spec that all versions share, and what surrounds it. */
import type { PrinterColumn } from '@reeve/crd'
import { Type } from 'typebox'
import { flag, requiredText, text, valueSource } from '../fields/fields.ts'
import { metadataEnrichment } from './features.ts'

/** Fields of every version. */
export const specFields = {
  apiUrl: requiredText(
    'The API of the tenant, such as https://abc12345.live.dynatrace.com/api. Must end in /api and cannot change.',
    { maxLength: 128 },
  ),
  tokens: text('A Secret with the keys apiToken and dataIngestToken; the name of the DynaKube when left out.'),
  trustedCAs: text('A ConfigMap whose key certs has certificates (PEM) to trust besides the well-known ones.'),
  networkZone: text('The network zone of agents and gateways.'),
  customPullSecret: text('A Secret with the credentials of a private registry, used besides the generated one.'),
  skipCertCheck: flag('Whether the operator calls the tenant without checking its certificate. For tests only.'),
  enableIstio: flag('Whether the operator allows traffic from an Istio mesh to the tenant.'),
  proxy: valueSource('The proxy between the cluster and the tenant, as a URL.', 'proxy'),
  dynatraceApiRequestThreshold: Type.Optional(
    Type.Integer({
      description: 'Minimum minutes between two equal requests to the tenant; 15 if left out, 0 for no limit.',
    }),
  ),
  metadataEnrichment,
}

/** What `kubectl explain dynakube.spec` begins with. */
export const SPEC = { description: 'What is monitored, and how.' }

/** What `kubectl explain dynakube` begins with. */
export const DESCRIPTION = 'Monitors a cluster: which agents and gateways run, and which tenant they report to.'

/** Columns of `kubectl get dynakubes`. */
export const COLUMNS: readonly PrinterColumn[] = [
  { name: 'ApiUrl', type: 'string', jsonPath: '.spec.apiUrl' },
  { name: 'Status', type: 'string', jsonPath: '.status.phase' },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]
