/** Allows code modules and gateways to reach the tenant from a mesh. */
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { needsAppInjection } from '../../../../api/dynakube/one-agent-facts.ts'
import { type ObjectCondition, objectConditions } from '../../conditions/object-conditions.ts'
import type { DynaKubeComponent } from '../../dynakube-component.ts'
import { egress } from '../istio/istio.ts'
import { agentHosts, gatewayHosts } from '../istio/mesh-hosts.ts'
import { tenant } from '../tenant/tenant.ts'
import { activeGateConnection } from './active-gate-connection.ts'
import { oneAgentConnection } from './one-agent-connection.ts'

/** For injected code modules. Optional: the cluster may have such objects already. */
export const istioForCodeModules: DynaKubeComponent = {
  ...egress('Istio for code modules', 'oneagent', (dynakube) =>
    needsAppInjection(dynakube) ? agentHosts(dynakube) : [],
  ),
  needs: [tenant, oneAgentConnection],
  isOptional: true,
  ...objectConditions([applied('IstioForCodeModule')]),
}

/** For gateways. */
export const istioForActiveGate: DynaKubeComponent = {
  ...egress('Istio for ActiveGate', 'activegate', (dynakube) =>
    hasActiveGate(dynakube) ? gatewayHosts(dynakube) : [],
  ),
  needs: [tenant, activeGateConnection],
  ...objectConditions([applied('IstioForActiveGate')]),
}

function applied(type: string): ObjectCondition {
  return { type, reason: `${type}Changed`, failureReason: `${type}Failed`, verb: 'applied' }
}
