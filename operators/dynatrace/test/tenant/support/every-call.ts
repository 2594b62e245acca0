/** Every call of the tenant client by name, for tests that hold for all of them. */
import { join } from 'node:path'
import { codeModules, hostInstaller } from '../../../src/tenant/client/installer-target.ts'
import type { TenantClient } from '../../../src/tenant/client/tenant-client.ts'
import { TENANT_DEFAULTS } from '../../../src/tenant/simulator/defaults.ts'

/** What a call is made with. */
export interface CallContext {
  readonly client: TenantClient
  readonly apiToken: string
  /** For downloads. */
  readonly folder: string
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

/** One call: its name at the simulator, whether it only reads, and how it is made. */
export interface EveryCall {
  readonly operation: string
  readonly isRepeatable: boolean
  /** Whether the client handles a missing response itself. */
  readonly toleratesSilence?: boolean
  run(context: CallContext): Promise<unknown>
}

const bounds = ({ signal, timeoutMs }: CallContext) => ({
  ...(signal && { signal }),
  ...(timeoutMs !== undefined && { timeoutMs }),
})

/** UID of the `kube-system` namespace in these tests. */
export const CLUSTER = '8c1fd2c4-0000-4000-8000-000000000001'

const event = {
  eventType: 'MARKED_FOR_TERMINATION',
  description: 'node cordoned',
  source: 'operator',
  entityIds: ['HOST-0000000000000001'],
  startMs: 1_700_000_000_000,
  endMs: 1_700_000_000_000,
}

export const EVERY_CALL: readonly EveryCall[] = [
  { operation: 'token-lookup', isRepeatable: true, run: (c) => c.client.tokens.scopes(c.apiToken, bounds(c)) },
  { operation: 'agent-connection-info', isRepeatable: true, run: (c) => c.client.connectionInfo.oneAgent(bounds(c)) },
  {
    operation: 'gateway-connection-info',
    isRepeatable: true,
    run: (c) => c.client.connectionInfo.activeGate(bounds(c)),
  },
  {
    operation: 'agent-latest-version',
    isRepeatable: true,
    run: (c) => c.client.versions.latestAgent(hostInstaller, bounds(c)),
  },
  { operation: 'gateway-latest-version', isRepeatable: true, run: (c) => c.client.versions.latestGateway(bounds(c)) },
  {
    operation: 'agent-versions',
    isRepeatable: true,
    run: (c) => c.client.versions.availableAgents(codeModules('x64'), bounds(c)),
  },
  { operation: 'latest-image', isRepeatable: true, run: (c) => c.client.images.activeGate(bounds(c)) },
  {
    operation: 'process-module-config',
    isRepeatable: true,
    toleratesSilence: true,
    run: (c) => c.client.processModules.config(bounds(c)),
  },
  {
    operation: 'active-gate-token',
    isRepeatable: false,
    run: (c) => c.client.tokens.createForActiveGate('dk', bounds(c)),
  },
  {
    operation: 'agent-download',
    isRepeatable: true,
    run: (c) =>
      c.client.installers.download(
        codeModules('x64'),
        TENANT_DEFAULTS.agentVersion,
        join(c.folder, 'agent.zip'),
        bounds(c),
      ),
  },
  { operation: 'settings-list', isRepeatable: true, run: (c) => c.client.settings.findCluster(CLUSTER, bounds(c)) },
  {
    operation: 'settings-create',
    isRepeatable: false,
    run: (c) => c.client.settings.createClusterSetting({ label: 'dk', clusterId: CLUSTER }, bounds(c)),
  },
  {
    operation: 'settings-effective-values',
    isRepeatable: true,
    run: (c) => c.client.enrichment.rules(CLUSTER, '', bounds(c)),
  },
  { operation: 'hosts', isRepeatable: true, run: (c) => c.client.hosts.findByIp('10.0.0.5', bounds(c)) },
  { operation: 'events', isRepeatable: false, run: (c) => c.client.hosts.sendEvent(event, bounds(c)) },
]
