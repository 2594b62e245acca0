/** Allows workflows of the tenant to reach the Kubernetes API through the EdgeConnect. */
import { hasKubernetesAutomation, isProvisioner } from '../../../../api/edgeconnect/edgeconnect-facts.ts'
import type { EdgeConnectComponent } from '../../edge-connect-component.ts'
import { connectAutomation } from '../registration/provision.ts'
import { provisionContext, registration } from '../registration/registration.ts'
import { workload } from '../workload/workload.ts'

/** Sends the token of the configuration to the tenant, once the configuration is written. */
export const automation: EdgeConnectComponent = {
  name: 'automation',
  needs: [registration, workload],
  isEnabled: (edgeConnect) => isProvisioner(edgeConnect) && hasKubernetesAutomation(edgeConnect),
  mayOwn: () => [],
  async resolve(context) {
    const { primary, factsOf, outcomeOf } = context
    // A tenant that just failed is not called again.
    const { failure } = outcomeOf(registration) ?? {}
    if (failure !== undefined) throw failure
    const { platform } = factsOf(registration) ?? {}
    const { automationToken = '' } = factsOf(workload) ?? {}
    if (platform !== undefined) {
      await connectAutomation(primary, automationToken, provisionContext(context, platform))
    }
    return undefined
  },
}
