/** Built-in resources that nothing in the embedded cluster acts on: those it does not serve, and those it only keeps. */
import { groupResource } from './resource-info.ts'

/**
 * Left out, as by a server that was started without them: whoever relies on a policy must not believe that it holds.
 */
export const unservedResources: ReadonlySet<string> = new Set([
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
])

/** What people hear who create an object that is kept, shown and checked, but has no effect. */
const withoutEffect: Readonly<Record<string, string>> = {
  resourcequotas: 'quotas are not enforced',
  limitranges: 'limits are neither enforced nor filled in',
  'horizontalpodautoscalers.autoscaling': 'nothing is scaled by itself',
  'apiservices.apiregistration.k8s.io': 'no other API server is asked',
  'flowschemas.flowcontrol.apiserver.k8s.io': 'requests are not queued by priority',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': 'requests are not queued by priority',
  'certificatesigningrequests.certificates.k8s.io': 'no certificate is issued',
  'servicecidrs.networking.k8s.io': 'addresses of Services come from a range of their own',
}

/** The warning for a new object of this resource, or `undefined` when it has the effect that people expect. */
export function warningOfNoEffect(of: { readonly group: string; readonly plural: string }): string | undefined {
  const why = withoutEffect[groupResource(of)]
  return why === undefined ? undefined : `the embedded cluster keeps ${of.plural} without acting on them: ${why}`
}
