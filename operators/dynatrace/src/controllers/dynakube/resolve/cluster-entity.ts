/** The cluster in the tenant: announced there, and found again as an entity with a name. */
import { hasKubernetesMonitoring } from '../../../api/dynakube/active-gate-facts.ts'
import { featureFlags } from '../../../api/feature-flags.ts'
import { CONDITIONS, REASONS } from '../condition-types.ts'
import type { Pass } from './pass.ts'
import { mayAskFor, missingOptionalScopes } from './tokens.ts'

/**
 * Announces the cluster, unless it is known. The tenant then makes an entity for it. Asked as often as for that
 * entity: who deletes the setting gets it back in a while.
 *
 * *Errors*: errors of the tenant. None of them keeps gateways from running.
 */
export async function announceCluster(pass: Pass): Promise<void> {
  const { draft, tenant, signal } = pass
  const { dynakube, status } = draft
  const flags = featureFlags(dynakube)
  const clusterId = status.kubeSystemUUID ?? ''
  if (!mayAskFor(pass, CONDITIONS.monitoredEntity, 'settings.read')) return
  if (!flags.automaticKubernetesApiMonitoring || !hasKubernetesMonitoring(dynakube) || clusterId === '') return
  if (missingOptionalScopes(pass, 'settings.read', 'settings.write').length > 0) return
  const entityId = status.kubernetesClusterMEID ?? ''
  if ((await tenant.settings.countClusterSettings(entityId, { signal })) === 0) {
    const label = flags.kubernetesClusterName
    await tenant.settings.createClusterSetting({ label, clusterId, ...(entityId && { entityId }) }, { signal })
    return
  }
  if (!flags.kubernetesAppEnabled) return
  const count = await tenant.settings.countKubernetesAppSettings(entityId, { signal })
  if (count === 0) await tenant.settings.enableKubernetesApp(entityId, { signal })
}

/** Finds the entity, whose id and name agents pass on. *Errors*: errors of the tenant. */
export async function findClusterEntity(pass: Pass): Promise<void> {
  const { draft, tenant, signal } = pass
  const type = CONDITIONS.monitoredEntity
  if (!mayAskFor(pass, type, 'settings.read')) return
  draft.set(type, 'False', REASONS.statusOutdated, 'The entity of the cluster is looked up')
  if (missingOptionalScopes(pass, 'settings.read').length > 0) {
    const why = 'apiToken lacks settings.read, or no feature asks for it; the cluster stays without entity'
    draft.set(type, 'False', REASONS.scopeMissing, why)
    return
  }
  const entity = await tenant.settings.findCluster(draft.status.kubeSystemUUID ?? '', { signal })
  if (entity === undefined) return
  draft.update({ kubernetesClusterMEID: entity.id, kubernetesClusterName: entity.name })
  draft.set(type, 'True', REASONS.statusUpdated, `The cluster is ${entity.name} (${entity.id})`)
}
