/** The tokens with which agents and gateways connect, in Secrets that only they read. */
import { Secrets } from '@reeve/kube'
import { type DesiredObject, desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { needsAppInjection, needsOneAgentDaemonSet } from '../../../../api/dynakube/one-agent-facts.ts'
import type { DynaKube } from '../../../../api/latest.ts'
import { encodeSecret } from '../../../secret-data.ts'
import { type Component, known } from '../../component.ts'

/** The key of the token in both Secrets. */
export const TENANT_TOKEN_KEY = 'tenant-token'

/** Whether anything connects the way agents do. */
export const needsOneAgentConnection = (dynakube: DynaKube): boolean =>
  needsAppInjection(dynakube) || needsOneAgentDaemonSet(dynakube) || hasLogMonitoring(dynakube)

/** The token of agents. */
export const oneAgentTenantSecret: Component = {
  name: 'OneAgent connection',
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).oneAgentTenantSecret }],
  render({ dynakube, material }) {
    if (!needsOneAgentConnection(dynakube)) return []
    const token = known(material.oneAgentTenantToken, 'OneAgent', 'the token of the environment')
    return [tenantSecret(dynakube, namesOf(dynakube).oneAgentTenantSecret, token)]
  },
}

/** The token of gateways. */
export const activeGateTenantSecret: Component = {
  name: 'ActiveGate connection',
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).activeGateTenantSecret }],
  render({ dynakube, material }) {
    if (!hasActiveGate(dynakube)) return []
    const token = known(material.activeGateTenantToken, 'ActiveGate', 'the token of the environment')
    return [tenantSecret(dynakube, namesOf(dynakube).activeGateTenantSecret, token)]
  },
}

function tenantSecret({ metadata }: DynaKube, name: string, token: string): DesiredObject {
  return desired(Secrets, {
    metadata: { namespace: metadata.namespace, name },
    data: encodeSecret({ [TENANT_TOKEN_KEY]: token }),
  })
}
