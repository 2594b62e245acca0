/** The proxy in pieces, as a file that agents and gateways read: its password is in no argument and no variable. */
import { Secrets } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { activeGateUsesProxy } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { oneAgentUsesProxy } from '../../../../api/dynakube/proxy.ts'
import { encodeSecret } from '../../../rendering/secret-data.ts'
import { type Component, known } from '../../component.ts'
import { proxyParts } from '../tenant/proxy-parts.ts'

/** The Secret with the proxy. */
export const proxySecret: Component = {
  name: 'proxy',
  isEnabled: (dynakube) => oneAgentUsesProxy(dynakube) || activeGateUsesProxy(dynakube),
  mayOwn: (dynakube) => [{ resource: Secrets, name: namesOf(dynakube).proxySecret }],
  render({ dynakube, material }) {
    if (!oneAgentUsesProxy(dynakube) && !activeGateUsesProxy(dynakube)) return []
    const url = known(material.proxyUrl, 'the proxy', 'its address')
    return [
      desired(Secrets, {
        metadata: { namespace: dynakube.metadata.namespace, name: namesOf(dynakube).proxySecret },
        type: 'Opaque',
        data: encodeSecret({ ...proxyParts(url) }),
      }),
    ]
  },
}
