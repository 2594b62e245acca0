/** The cluster in the tenant: registered by the operator, and looked up as an entity. */
import { hasKubernetesMonitoring } from '../../../../api/dynakube/active-gate-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { activeGate } from '../active-gate/active-gate.ts'
import { mayAskFor, missingOptionalScopes } from '../tenant/optional-scopes.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'

const TYPE = 'MonitoredEntity'

/**
 * Creates the setting for which the tenant makes an entity of the cluster, unless it exists. Optional: gateways run
 * without it. Skipped while the gateways fail or wait.
 */
export const clusterAnnouncement: DynaKubeComponent = {
  name: 'cluster announcement',
  needs: [tenant],
  after: [activeGate],
  isOptional: true,
  ...RENDERS_NOTHING,
  async resolve(context) {
    const { state } = context.outcomeOf(activeGate) ?? {}
    if (state !== 'failed' && state !== 'waiting') await announce(context)
    return undefined
  },
}

/** The entity of the cluster, whose id and name agents pass on. */
export const clusterEntity: DynaKubeComponent = {
  name: 'cluster entity',
  needs: [tenant],
  after: [clusterAnnouncement],
  conditions: [TYPE],
  ...RENDERS_NOTHING,
  async resolve(context) {
    await findEntity(context)
    return undefined
  },
}

/** Checked as often as the entity: a deleted setting is recreated. */
async function announce(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  const { primary: dynakube, status } = reporter
  const flags = featureFlags(dynakube)
  const clusterId = status?.kubeSystemUUID ?? ''
  if (!mayAskFor(context, TYPE, 'settings.read')) return
  if (!flags.automaticKubernetesApiMonitoring || !hasKubernetesMonitoring(dynakube) || clusterId === '') return
  if (missingOptionalScopes(reporter, 'settings.read', 'settings.write').length > 0) return
  const { settings } = tenantOf(context).client
  const entityId = status?.kubernetesClusterMEID ?? ''
  if ((await settings.countClusterSettings(entityId, { signal })) === 0) {
    const label = flags.kubernetesClusterName
    await settings.createClusterSetting({ label, clusterId, ...(entityId && { entityId }) }, { signal })
  }
}

async function findEntity(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  if (!mayAskFor(context, TYPE, 'settings.read')) return
  const fails = (reason: string, message: string) =>
    reporter.setCondition({ type: TYPE, status: 'False', reason, message })
  fails(REASONS.statusOutdated, 'The tenant has no entity for the cluster yet')
  if (missingOptionalScopes(reporter, 'settings.read').length > 0) {
    fails(
      REASONS.scopeMissing,
      'apiToken lacks settings.read, or no feature needs it; the entity of the cluster is not looked up',
    )
    return
  }
  const { settings } = tenantOf(context).client
  const entity = await settings.findCluster(reporter.status?.kubeSystemUUID ?? '', { signal })
  if (entity === undefined) return
  reporter.update({ kubernetesClusterMEID: entity.id, kubernetesClusterName: entity.name })
  const message = `The cluster is ${entity.name} (${entity.id})`
  reporter.setCondition({ type: TYPE, status: 'True', reason: REASONS.statusUpdated, message })
}
