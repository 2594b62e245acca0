/** How agents, code modules and log agents connect to the tenant. */
import { Secrets } from '@reeve/kube'
import { waiting } from '@reeve/runtime'
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsAppInjection, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import type { CommunicationHost } from '../../../../tenant/client/communication-hosts.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { kept, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import {
  type DynaKubeComponent,
  type DynaKubeContext,
  type DynaKubeInput,
  runsNoPods,
  viewOf,
} from '../../dynakube-component.ts'
import { updateOneAgent } from '../../status-parts.ts'
import { isOutdated, reported } from '../../tenant-requests.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { activeGateConnection } from './active-gate-connection.ts'
import { TENANT_TOKEN_KEY, tenantSecret } from './tenant-secret.ts'

const TYPE = 'OneAgentConnectionInfo'
const nameOf = (dynakube: DynaKube): string => namesOf(dynakube).oneAgentTenantSecret

/** How soon the tenant is called again for endpoints that it does not have yet. */
const HOSTS_AGAIN_MS = 60_000

/** What agents connect with. */
export interface OneAgentConnection {
  readonly oneAgentTenantToken: string
}

/**
 * Endpoints in the status, and the token in a Secret. Waits while there are no endpoints: with a network zone, they
 * appear once a gateway runs in it.
 */
export const oneAgentConnection: DynaKubeComponent<OneAgentConnection> = {
  name: 'OneAgent connection',
  needs: [tenant],
  // If both fail, the error of the gateways is reported first.
  after: [activeGateConnection],
  isEnabled: (dynakube) =>
    needsAppInjection(dynakube) || needsOneAgentDaemonSet(dynakube) || hasLogMonitoring(dynakube),
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Secrets, name: nameOf(dynakube) }],
  async resolve(context) {
    const { reporter } = context
    const name = nameOf(context.primary)
    const stored = viewOf(context).secret(name)?.[TENANT_TOKEN_KEY]
    if (stored !== undefined && !isOutdated(context, TYPE)) return { oneAgentTenantToken: stored }
    const fails = (reason: string, message: string) =>
      reporter.setCondition({ type: TYPE, status: 'False', reason, message })
    fails(REASONS.secretOutdated, `${name} is outdated`)
    const { tenantToken, ...known } = await askTenant(context)
    if (known.communicationHosts.length === 0) {
      const before = reporter.status?.oneAgent?.connectionInfoStatus
      updateOneAgent(reporter, { connectionInfoStatus: { ...before, ...known } })
      fails('EmptyCommunicationHosts', 'The tenant has no endpoints for agents')
      return waiting('endpoints for agents', { requeueAfterMs: HOSTS_AGAIN_MS })
    }
    updateOneAgent(reporter, { connectionInfoStatus: { ...known, tenantTokenHash: hashOf(tenantToken) } })
    reporter.setCondition({ type: TYPE, status: 'True', reason: REASONS.secretCreated, message: `${name} created` })
    return { oneAgentTenantToken: tenantToken }
  },
  render: ({ primary, facts }) => [tenantSecret(primary, nameOf(primary), facts.oneAgentTenantToken)],
  ...objectConditions([kept(TYPE, nameOf)], (reporter) =>
    updateOneAgent(reporter, { connectionInfoStatus: undefined }),
  ),
}

/** The facts of the connection, for components that need it. */
export function oneAgentConnectionOf({ factsOf }: Pick<DynaKubeInput, 'factsOf'>): OneAgentConnection {
  const facts = factsOf(oneAgentConnection)
  if (facts === undefined) throw new Error('a component that uses the connection of agents must list it in `needs`')
  return facts
}

async function askTenant(context: DynaKubeContext) {
  const { client } = tenantOf(context)
  const { networkZone } = context.primary.spec
  const { tenantUuid, endpoints, tenantToken, hosts } = await reported(context, TYPE, () =>
    client.connectionInfo.oneAgent({ signal: context.signal, ...(networkZone && { networkZone }) }),
  )
  // The tenant lists hosts in any order; sorted, another order causes no write.
  const communicationHosts = [...hosts].sort(byAddress).map((host) => ({ ...host }))
  return { tenantUUID: tenantUuid, endpoints, communicationHosts, tenantToken }
}

function byAddress(left: CommunicationHost, right: CommunicationHost): number {
  const [a, b] = [left, right].map(({ protocol, host, port }) => `${host}:${port}:${protocol}`)
  return (a ?? '') < (b ?? '') ? -1 : 1
}
