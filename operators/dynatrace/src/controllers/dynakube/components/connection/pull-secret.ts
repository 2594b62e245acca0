/** Access to the images in the registry of the tenant. */
import { Secrets } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import { apiHost, tenantUuid } from '../../../../api/dynakube/tenant-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import type { Tokens } from '../../../tenant-access/tokens.ts'
import { created, objectConditions } from '../../conditions/object-conditions.ts'
import { type DynaKubeComponent, runsNoPods } from '../../dynakube-component.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { activeGateConnection } from './active-gate-connection.ts'
import { oneAgentConnection } from './one-agent-connection.ts'

const nameOf = (dynakube: DynaKube): string => namesOf(dynakube).pullSecret

/** The Secret that pods name to pull images from the tenant. */
export const pullSecret: DynaKubeComponent = {
  name: 'pull secret',
  needs: [tenant],
  after: [activeGateConnection, oneAgentConnection],
  isEnabled: (dynakube) => needsOneAgentDaemonSet(dynakube) || hasActiveGate(dynakube),
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Secrets, name: nameOf(dynakube) }],
  /** The user name is the UUID of the tenant, which either connection provides; waits or fails with both. */
  resolve({ primary, outcomeOf }) {
    const { oneAgent: agent, activeGate: gateway } = primary.status ?? {}
    if (agent?.connectionInfoStatus?.tenantUUID || gateway?.connectionInfoStatus?.tenantUUID) return undefined
    const connections = [outcomeOf(oneAgentConnection), outcomeOf(activeGateConnection)]
    const failed = connections.find((outcome) => outcome?.failure !== undefined)
    if (failed?.failure !== undefined) throw failed.failure
    return connections.find((outcome) => outcome?.waiting !== undefined)?.waiting
  },
  render: (input) => [
    desired(Secrets, {
      metadata: { namespace: input.primary.metadata.namespace, name: nameOf(input.primary) },
      type: 'kubernetes.io/dockerconfigjson',
      data: encodeSecret({ '.dockerconfigjson': dockerConfig(input.primary, tenantOf(input)) }),
    }),
  ],
  ...objectConditions([created('PullSecret', 'Secret', nameOf)]),
}

function dockerConfig(dynakube: DynaKube, { paasToken, apiToken }: Tokens): string {
  const username = tenantUuid(dynakube)
  const password = paasToken || apiToken
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  return JSON.stringify({ auths: { [apiHost(dynakube)]: { username, password, auth } } })
}
