/** The Service of gateways. It comes first: pods and certificates contain its addresses. */
import { Services } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { hasActiveGate } from '../../../../api/dynakube/active-gate-facts.ts'
import { namesOf } from '../../../../api/dynakube/names.ts'
import { type DynaKubeComponent, RENDERS_NOTHING, renderInputOf, runsNoPods, viewOf } from '../../dynakube-component.ts'
import { updateActiveGate } from '../../status-parts.ts'
import { tenant } from '../tenant/tenant.ts'
import { gatewayLabels, gatewayPartLabels } from './labels.ts'

/** The Service of gateways. */
export const activeGateService: DynaKubeComponent = {
  name: 'ActiveGate Service',
  needs: [tenant],
  isEnabled: hasActiveGate,
  isReady: runsNoPods,
  mayOwn: (dynakube) => [{ resource: Services, name: namesOf(dynakube).activeGate }],
  render(engineInput) {
    const input = renderInputOf(engineInput)
    const { dynakube } = input
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

/** The addresses of that Service, in the status: agents, certificates and collectors contain them. */
export const activeGateAddress: DynaKubeComponent = {
  name: 'ActiveGate address',
  needs: [tenant, activeGateService],
  isEnabled: hasActiveGate,
  ...RENDERS_NOTHING,
  resolve(context) {
    const { primary, reporter } = context
    const addresses = viewOf(context).serviceIPs(namesOf(primary).activeGate)
    if (addresses.join() !== primary.status?.activeGate?.serviceIPs?.join()) {
      updateActiveGate(reporter, { serviceIPs: [...addresses] })
    }
    return undefined
  },
  report({ state }, reporter) {
    if (state === 'disabled') updateActiveGate(reporter, { serviceIPs: undefined })
  },
}
