/** The setting of the tenant that enables the Kubernetes app for the cluster. */
import { hasKubernetesMonitoring } from '../../../../api/dynakube/active-gate-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { reported } from '../../tenant-requests.ts'
import { mayAskFor, missingOptionalScopes } from '../tenant/optional-scopes.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'
import { clusterEntity } from './cluster.ts'

const TYPE = 'KubernetesApp'

/**
 * Creates the setting as soon as the flag is set and the tenant has an entity for the cluster, unless a setting exists.
 * Optional: nothing else depends on it.
 */
export const kubernetesApp: DynaKubeComponent = {
  name: 'Kubernetes app',
  needs: [tenant],
  after: [clusterEntity],
  isOptional: true,
  isEnabled(dynakube) {
    const { kubernetesAppEnabled, automaticKubernetesApiMonitoring } = featureFlags(dynakube)
    return kubernetesAppEnabled && automaticKubernetesApiMonitoring && hasKubernetesMonitoring(dynakube)
  },
  conditions: [TYPE],
  ...RENDERS_NOTHING,
  async resolve(context) {
    await enable(context)
    return undefined
  },
}

async function enable(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  const entityId = reporter.status?.kubernetesClusterMEID ?? ''
  if (entityId === '' || !mayAskFor(context, TYPE, 'settings.read', 'settings.write')) return
  const report = (status: 'True' | 'False', reason: string, message: string) =>
    reporter.setCondition({ type: TYPE, status, reason, message })
  // Resets the transition time, so that the tenant is called once per request threshold.
  report('False', REASONS.statusOutdated, 'The setting is looked up')
  const missing = missingOptionalScopes(reporter, 'settings.read', 'settings.write')
  if (missing.length > 0) {
    report('False', REASONS.scopeMissing, `apiToken lacks ${missing.join(', ')}; the app is not enabled`)
    return
  }
  const { settings } = tenantOf(context).client
  const count = await reported(context, TYPE, () => settings.countKubernetesAppSettings(entityId, { signal }))
  if (count === 0) {
    await reported(context, TYPE, () => settings.enableKubernetesApp(entityId, { signal }))
    report('True', 'Created', 'The app is enabled')
  } else if (count === undefined) report('True', 'Unsupported', 'The tenant does not have the Kubernetes app')
  else report('True', 'AlreadyExist', 'A setting exists and is left unchanged')
}
