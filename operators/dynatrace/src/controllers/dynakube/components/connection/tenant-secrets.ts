/** The tokens with which agents and gateways connect, in Secrets that only they read. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsAppInjection, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { type Component, known } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import { kept } from '../../object-conditions.ts'
import { resolveActiveGateConnection, resolveOneAgentConnection, TENANT_TOKEN_KEY } from './connection-info.ts'

/** Whether anything connects the way agents do. */
const needsOneAgentConnection = (dynakube: DynaKube): boolean =>
  needsAppInjection(dynakube) || needsOneAgentDaemonSet(dynakube) || hasLogMonitoring(dynakube)

/** The token of gateways. */
export const activeGateTenantSecret: Component = {
  name: 'ActiveGate connection',
  isEnabled: hasActiveGate,
  resolve: resolveActiveGateConnection,
  conditions: (dynakube) => [kept(CONDITIONS.activeGateConnection, namesOf(dynakube).activeGateTenantSecret)],
  disable: (draft) => draft.updateActiveGate({ connectionInfoStatus: undefined }),
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).activeGateTenantSecret }],
  render({ dynakube, material }) {
    if (!hasActiveGate(dynakube)) return []
    const token = known(material.activeGateTenantToken, 'ActiveGate', 'the token of the tenant')
    return [tenantSecret(dynakube, namesOf(dynakube).activeGateTenantSecret, token)]
  },
}

/** The token of agents. */
export const oneAgentTenantSecret: Component = {
  name: 'OneAgent connection',
  // Of two failures, that of gateways is told.
  after: [activeGateTenantSecret],
  isEnabled: needsOneAgentConnection,
  resolve: resolveOneAgentConnection,
  conditions: (dynakube) => [kept(CONDITIONS.oneAgentConnection, namesOf(dynakube).oneAgentTenantSecret)],
  disable: (draft) => draft.updateOneAgent({ connectionInfoStatus: undefined }),
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).oneAgentTenantSecret }],
  render({ dynakube, material }) {
    if (!needsOneAgentConnection(dynakube)) return []
    const token = known(material.oneAgentTenantToken, 'OneAgent', 'the token of the tenant')
    return [tenantSecret(dynakube, namesOf(dynakube).oneAgentTenantSecret, token)]
  },
}

function tenantSecret({ metadata }: DynaKube, name: string, token: string): DesiredObject {
  return desired(Secrets, {
    metadata: { namespace: metadata.namespace, name },
    data: encodeSecret({ [TENANT_TOKEN_KEY]: token }),
  })
}
