/** The objects of the namespace of the Dynatrace operator before there is a DynaKube: tokens, trust and accounts. */
import type { TenantSimulator } from '@reeve/dynatrace/tenant/simulator'
import type { UnknownObject } from '@reeve/kube'

/** The tenant of the demo. */
export const TENANT = 'demo'

/** The ConfigMap with the authority of the tenant's certificate. */
export const TRUST = 'tenant-ca'

/** The Secret with which EdgeConnects are created in the tenant. */
export const OAUTH_CLIENT = 'edgeconnect-oauth'

/** The Secret with the tokens: by default the one that is called like the DynaKube. */
const TOKENS = 'dynakube'

/** Pods run as these; in a cluster of yours the chart has them, with their rights. */
const ACCOUNTS = [
  'dynatrace-activegate',
  'dynatrace-dynakube-oneagent',
  'dynatrace-edgeconnect',
  'dynatrace-extension-controller',
  'dynatrace-node-config-collector',
  'dynatrace-otel-collector',
]

/** The objects, to be applied. */
export function tenantObjects(simulator: TenantSimulator, namespace: string): readonly UnknownObject[] {
  const { tokens, oauth } = simulator.tenant(TENANT)
  const token = (name: string) => tokens.get(name)?.value ?? ''
  const [client] = oauth.list()
  const object = (kind: string, name: string, content: object = {}): UnknownObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { namespace, name },
    ...content,
  })
  return [
    object('Secret', TOKENS, {
      stringData: { apiToken: token('apiToken'), dataIngestToken: token('dataIngestToken') },
    }),
    object('Secret', OAUTH_CLIENT, {
      stringData: { 'oauth-client-id': client?.id ?? '', 'oauth-client-secret': client?.secret ?? '' },
    }),
    object('ConfigMap', TRUST, { data: { certs: simulator.caCertificate } }),
    ...ACCOUNTS.map((name) => object('ServiceAccount', name)),
  ]
}
