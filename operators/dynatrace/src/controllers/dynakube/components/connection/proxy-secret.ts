/** The parts of the proxy URL, in files that agents and gateways read: no argument and no variable has its password. */
import { Secrets } from '@reeve/kube'
import { desired, waiting } from '@reeve/runtime'
import { activeGateUsesProxy } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { type DynaKubeComponent, runsNoPods } from '../../dynakube-component.ts'
import { proxyParts } from '../tenant/proxy-parts.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'

/** The Secret with the proxy. */
export const proxySecret: DynaKubeComponent = {
  name: 'proxy',
  needs: [tenant],
  isEnabled: (dynakube) => oneAgentUsesProxy(dynakube) || activeGateUsesProxy(dynakube),
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).proxySecret }],
  render(input) {
    const { proxyUrl } = tenantOf(input)
    if (!proxyUrl) return waiting('the URL of the proxy')
    const { primary } = input
    return [
      desired(Secrets, {
        metadata: { namespace: primary.metadata.namespace, name: namesOf(primary).proxySecret },
        type: 'Opaque',
        data: encodeSecret({ ...proxyParts(proxyUrl) }),
      }),
    ]
  },
}
