/** The setting by which the tenant processes what security posture management collects. */
import { hasKspm } from '../../../../api/dynakube/feature-facts.ts'
import { dynatraceApiMessage, REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { mayAskFor, missingOptionalScopes } from '../tenant/optional-scopes.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'

const TYPE = 'KSPMSettings'
const SKIPPED = 'Skipped'

/** Creates the setting once; from then on it belongs to the user. Collectors do not wait for it. */
export const kspmSetting: DynaKubeComponent = {
  name: 'KSPM setting',
  needs: [tenant],
  after: [clusterEntity],
  isOptional: true,
  isEnabled: hasKspm,
  conditions: [TYPE],
  ...RENDERS_NOTHING,
  async resolve(context) {
    await createKspmSetting(context)
    return undefined
  },
}

async function createKspmSetting(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  const { kubernetesClusterMEID: entity = '' } = reporter.status ?? {}
  // An entity that has appeared is used immediately; without it there was nothing to request.
  const isEntityNew = entity !== '' && reporter.condition(TYPE)?.reason === SKIPPED
  if (!isEntityNew && !mayAskFor(context, TYPE, 'settings.read', 'settings.write')) return
  const report = (status: 'True' | 'False', reason: string, message: string) =>
    reporter.setCondition({ type: TYPE, status, reason, message })
  // Resets the transition time, so that the tenant is called once per request threshold.
  report('False', REASONS.statusOutdated, 'The setting is looked up')
  const missing = missingOptionalScopes(reporter, 'settings.read', 'settings.write')
  if (missing.length > 0) {
    report('False', REASONS.scopeMissing, `apiToken lacks ${missing.join(', ')}; no setting is created`)
    return
  }
  if (entity === '') {
    report('False', SKIPPED, 'The tenant has no entity for the cluster yet')
    return
  }
  try {
    const { settings } = tenantOf(context).client
    const count = await settings.countKspmSettings(entity, { signal })
    if (count === 0) await settings.enableKspm(entity, { signal })
    report('True', 'Exists', count === undefined ? 'The tenant needs no setting' : 'The setting exists')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) report('False', 'Error', dynatraceApiMessage(error))
    throw error
  }
}
