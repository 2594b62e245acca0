/** Ingresses, network policies, endpoint slices and leases. */

import { ensureObject, objectsIn, setDefault, withObject } from '../draft-fields.ts'
import type { KindStrategy } from '../registry/kind-strategy.ts'
import { validateEndpointSlice } from './validation/endpoints.ts'
import { validateIngress, validateIngressClass, validateNetworkPolicy } from './validation/network.ts'
import { validateLease } from './validation/policies.ts'
import { validateIngressStatus } from './validation/reported-status.ts'
import { ingressWarnings } from './warnings.ts'

/** The strategy of the kind Ingress. */
export const ingressStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateIngress,
  validateStatus: validateIngressStatus,
  warnings: ingressWarnings,
}

/** The strategy of the kind IngressClass. */
export const ingressClassStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateIngressClass,
  default(object) {
    withObject(ensureObject(object, 'spec'), 'parameters', (parameters) => {
      setDefault(parameters, 'scope', 'Cluster')
    })
  },
}

/** The strategy of the kind NetworkPolicy. */
export const networkPolicyStrategy: KindStrategy = {
  generation: ['spec'],
  validate: validateNetworkPolicy,
  default(object) {
    const spec = ensureObject(object, 'spec')
    for (const field of ['ingress', 'egress']) {
      for (const rule of objectsIn(spec, field)) {
        for (const port of objectsIn(rule, 'ports')) setDefault(port, 'protocol', 'TCP')
      }
    }
    spec.policyTypes ??= spec.egress === undefined ? ['Ingress'] : ['Ingress', 'Egress']
  },
}

/** The strategy of the kind EndpointSlice. */
export const endpointSliceStrategy: KindStrategy = {
  generation: ['endpoints', 'ports', 'addressType'],
  validate: validateEndpointSlice,
  default(object) {
    for (const port of objectsIn(object, 'ports')) {
      port.name ??= ''
      setDefault(port, 'protocol', 'TCP')
    }
  },
}

/** The strategy of the kind Lease. */
export const leaseStrategy: KindStrategy = { createOnUpdate: true, validate: validateLease }
