/** Component: the namespace of a tenant, with an account that Helm can act as. */
import { Namespaces } from '@reeve/kube'
import { desired } from '@reeve/runtime'
import { accountObjects, createdNamespace } from '../tenancy/created-namespace.ts'
import { isAdministrative } from '../tenancy/target-namespace.ts'
import type { CollectorComponent } from './collector-component.ts'
import { plan } from './plan.ts'

/**
 * Created before an install when it is missing and the Collector is an administrator's. An existing namespace that the
 * operator did not create is used unchanged; one that a crash left without its account gets it. Nothing is changed or
 * deleted later.
 */
export const tenantNamespace: CollectorComponent<undefined> = {
  name: 'namespace',
  needs: [plan],
  render({ primary, dependencies, factsOf }) {
    const { release, decision, namespace } = factsOf(plan) ?? {}
    if (release === undefined || decision?.action !== 'install') return []
    if (namespace !== undefined) return accountObjects(primary, namespace, dependencies)
    if (!isAdministrative(primary, dependencies.tenancy)) return []
    const created = createdNamespace(release.namespace, primary, dependencies.settings)
    return [desired(Namespaces, created, { createOnly: true }), ...accountObjects(primary, created, dependencies)]
  },
}
