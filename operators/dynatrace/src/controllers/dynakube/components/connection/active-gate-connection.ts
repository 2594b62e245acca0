/** How gateways connect to the tenant. */
import { Secrets } from '@reeve/kube'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { hashOf } from '../../../rendering/hashes.ts'
import { kept, objectConditions } from '../../conditions/object-conditions.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, runsNoPods, viewOf } from '../../dynakube-component.ts'
import { updateActiveGate } from '../../status-parts.ts'
import { isOutdated, reported } from '../../tenant-requests.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { TENANT_TOKEN_KEY, tenantSecret } from './tenant-secret.ts'

const TYPE = 'ActiveGateConnectionInfo'
const nameOf = (dynakube: DynaKube): string => namesOf(dynakube).activeGateTenantSecret

/** What gateways connect with. */
export interface ActiveGateConnection {
  readonly activeGateTenantToken: string
}

/** Endpoints in the status, and the token in a Secret. */
export const activeGateConnection: DynaKubeComponent<ActiveGateConnection> = {
  name: 'ActiveGate connection',
  needs: [tenant],
  isEnabled: hasActiveGate,
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Secrets, name: nameOf(dynakube) }],
  async resolve(context) {
    const { reporter, signal } = context
    const name = nameOf(context.primary)
    const stored = viewOf(context).secret(name)?.[TENANT_TOKEN_KEY]
    if (stored !== undefined && !isOutdated(context, TYPE)) return { activeGateTenantToken: stored }
    reporter.setCondition({
      type: TYPE,
      status: 'False',
      reason: REASONS.secretOutdated,
      message: `${name} is outdated`,
    })
    const { client } = tenantOf(context)
    const info = await reported(context, TYPE, () => client.connectionInfo.activeGate({ signal }))
    const { tenantUuid: tenantUUID, endpoints, tenantToken } = info
    updateActiveGate(reporter, {
      connectionInfoStatus: { tenantUUID, endpoints, tenantTokenHash: hashOf(tenantToken) },
    })
    reporter.setCondition({ type: TYPE, status: 'True', reason: REASONS.secretCreated, message: `${name} created` })
    return { activeGateTenantToken: tenantToken }
  },
  render: ({ primary, facts }) => [tenantSecret(primary, nameOf(primary), facts.activeGateTenantToken)],
  ...objectConditions([kept(TYPE, nameOf)], (reporter) =>
    updateActiveGate(reporter, { connectionInfoStatus: undefined }),
  ),
}
