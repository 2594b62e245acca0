/** A DynaKube with every feature that can be combined, an EdgeConnect, and what both refer to. */
import { ConfigMaps, type KubeClient, Secrets } from '@reeve/kube'
import { EXAMPLE_TEMPLATES } from '../../../src/api/testing/full-spec.ts'
import { encodeSecret } from '../../../src/controllers/rendering/secret-data.ts'
import type { DynaKube, EdgeConnect } from '../../../src/index.ts'
import type { SimulatedTenants } from '../../../src/tenant/simulator/index.ts'

/** The tenant of both. */
export const TENANT = 'everything'

const TRUST = 'tenant'
/** The name of the EdgeConnect. */
export const EDGE = 'edge'

const OAUTH_CLIENT = 'oauth-client'

/** Namespaces with this label are injected. */
export const INJECTED = { team: 'shop' }

const image = (name: string) => ({ repository: `registry.example.com/${name}`, tag: '1.2.3' })

/** Creates tokens, the OAuth client and the authority of the tenant. */
export async function createReferences(
  client: KubeClient,
  namespace: string,
  simulator: SimulatedTenants,
  certificate: string,
): Promise<void> {
  const { tokens, oauth } = simulator.tenant(TENANT)
  const token = (name: string) => tokens.get(name)?.value ?? ''
  const [oauthClient] = oauth.list()
  const secrets = {
    [TENANT]: { apiToken: token('apiToken'), dataIngestToken: token('dataIngestToken') },
    [OAUTH_CLIENT]: { 'oauth-client-id': oauthClient?.id ?? '', 'oauth-client-secret': oauthClient?.secret ?? '' },
  }
  for (const [name, data] of Object.entries(secrets)) {
    await client.create(Secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name },
      data: encodeSecret(data),
    })
  }
  await client.create(ConfigMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace, name: TRUST },
    data: { certs: certificate },
  })
}

/** Every feature that goes with agents on the nodes. */
export function everyFeature(namespace: string, simulator: SimulatedTenants): DynaKube {
  const namespaceSelector = { matchLabels: INJECTED }
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace, name: TENANT },
    spec: {
      apiUrl: simulator.url(TENANT),
      trustedCAs: TRUST,
      enableIstio: true,
      oneAgent: { cloudNativeFullStack: { namespaceSelector } },
      metadataEnrichment: { enabled: true, namespaceSelector },
      otlpExporterConfiguration: { signals: { metrics: {}, traces: {}, logs: {} }, namespaceSelector },
      activeGate: { capabilities: ['routing', 'kubernetes-monitoring', 'dynatrace-api', 'metrics-ingest'] },
      extensions: { prometheus: {}, databases: [{ id: 'orders' }] },
      telemetryIngest: {},
      kspm: { mappedHostPaths: ['/etc'] },
      logMonitoring: {},
      templates: EXAMPLE_TEMPLATES,
    },
  }
}

/** An EdgeConnect that the operator makes in the tenant, for workflows that reach the cluster. */
export function edgeConnect(namespace: string, simulator: SimulatedTenants): EdgeConnect {
  return {
    apiVersion: 'dynatrace.com/v1alpha2',
    kind: 'EdgeConnect',
    metadata: { namespace, name: EDGE },
    spec: {
      apiServer: simulator.authority,
      hostPatterns: ['*.internal.org'],
      kubernetesAutomation: { enabled: true },
      caCertsRef: TRUST,
      imageRef: image('edgeconnect'),
      oauth: {
        clientSecret: OAUTH_CLIENT,
        endpoint: simulator.tokenUrl,
        resource: `urn:dtenvironment:${TENANT}`,
        provisioner: true,
      },
    },
  }
}
