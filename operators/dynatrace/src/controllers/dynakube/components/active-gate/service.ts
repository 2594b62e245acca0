/** The address of gateways inside the cluster. It comes first: pods and certificates name it. */
import { Services } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import type { Component } from '../../component.ts'
import { gatewayLabels, gatewayPartLabels } from './labels.ts'

/** The Service of gateways. */
export const activeGateService: Component = {
  name: 'ActiveGate Service',
  isEnabled: hasActiveGate,
  mayOwn: (dynakube) => [{ resource: Services, name: namesOf(dynakube).activeGate }],
  render(input) {
    const { dynakube } = input
    if (!hasActiveGate(dynakube)) return []
    return [
      desired(
        Services,
        {
          metadata: {
            namespace: dynakube.metadata.namespace,
            name: namesOf(dynakube).activeGate,
            labels: gatewayPartLabels(input).all,
          },
          spec: {
            type: 'ClusterIP',
            selector: gatewayLabels(input).match,
            ports: [
              { name: 'https', port: 443, targetPort: 'https', protocol: 'TCP' },
              { name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' },
            ],
          },
        },
        { sole: ['spec.ports', 'spec.selector'] },
      ),
    ]
  },
}

/** The addresses of that Service, in the status: agents, certificates and collectors name them. */
export const activeGateAddress: Component = {
  name: 'ActiveGate address',
  needs: [activeGateService],
  isEnabled: hasActiveGate,
  mayOwn: () => [],
  resolve({ draft, view }) {
    const addresses = view.serviceIPs(namesOf(draft.dynakube).activeGate)
    if (addresses.join() !== draft.status.activeGate?.serviceIPs?.join()) {
      draft.updateActiveGate({ serviceIPs: [...addresses] })
    }
    return undefined
  },
  render: () => [],
  disable: (draft) => draft.updateActiveGate({ serviceIPs: undefined }),
}
