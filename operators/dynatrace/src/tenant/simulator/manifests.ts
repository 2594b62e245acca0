/** The resources with which an operator is pointed at a tenant of the simulator. */
import type { TenantSimulator } from './simulator.ts'

/** Names of the resources. */
export interface ManifestOptions {
  /** Of the DynaKube, and of the Secret with its tokens. @default 'simulated' */
  readonly name?: string
  /** @default 'dynatrace' */
  readonly namespace?: string
}

/**
 * A Secret with the tokens, a ConfigMap with the authority to trust, and a DynaKube that uses everything the simulator
 * answers for. They hold the tokens in clear.
 *
 * @example
 * const objects = simulatorManifests(simulator, 'abc12345', { namespace: 'dynatrace' })
 */
export function simulatorManifests(
  simulator: TenantSimulator,
  tenantId: string,
  { name = 'simulated', namespace = 'dynatrace' }: ManifestOptions = {},
): readonly object[] {
  const tenant = simulator.tenant(tenantId)
  const keys = ['apiToken', 'paasToken', 'dataIngestToken']
  const tokens = tenant.tokens.list().filter((token) => keys.includes(token.name))
  const trust = `${name}-ca`
  return [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      stringData: Object.fromEntries(tokens.map((token) => [token.name, token.value])),
    },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: trust, namespace },
      data: { certs: simulator.caCertificate },
    },
    {
      apiVersion: 'dynatrace.com/v1beta6',
      kind: 'DynaKube',
      metadata: { name, namespace },
      spec: {
        apiUrl: simulator.url(tenantId),
        trustedCAs: trust,
        metadataEnrichment: { enabled: true },
        oneAgent: { cloudNativeFullStack: {} },
        activeGate: { capabilities: ['routing', 'kubernetes-monitoring'] },
      },
    },
  ]
}
