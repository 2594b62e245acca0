/** The setting of the tenant that selects which logs are sent. */
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import { dynatraceApiMessage, REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { mayAskFor, missingOptionalScopes } from '../tenant/optional-scopes.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'

/** Reports whether the setting exists. */
export const LOG_RULE_CONDITION = 'LogMonitoringSettings'

/** Creates the setting once; from then on it belongs to the user. */
export const logRule: DynaKubeComponent = {
  name: 'log rule',
  needs: [tenant, oneAgentConnection],
  after: [clusterEntity],
  isEnabled: hasLogMonitoring,
  conditions: [LOG_RULE_CONDITION],
  ...RENDERS_NOTHING,
  async resolve(context) {
    await createLogRule(context)
    return undefined
  },
}

async function createLogRule(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  if (!mayAskFor(context, LOG_RULE_CONDITION, 'settings.read', 'settings.write')) return
  const report = (status: 'True' | 'False', reason: string, message: string) =>
    reporter.setCondition({ type: LOG_RULE_CONDITION, status, reason, message })
  // Resets the transition time, so that the tenant is called once per request threshold.
  report('False', REASONS.statusOutdated, 'The rule is looked up')
  const missing = missingOptionalScopes(reporter, 'settings.read', 'settings.write')
  if (missing.length > 0) {
    report('False', REASONS.scopeMissing, `apiToken lacks ${missing.join(', ')}; no rule is created`)
    return
  }
  const { kubernetesClusterMEID: entity = '', kubernetesClusterName: name = '' } = reporter.status ?? {}
  if (entity === '') {
    report('False', 'Skipped', 'The tenant has no entity for the cluster yet')
    return
  }
  try {
    const { settings } = tenantOf(context).client
    const { totalCount } = await settings.logMonitoringSettings(entity, { signal })
    if (totalCount > 0) {
      report('True', 'AlreadyExist', 'A rule exists and is left unchanged')
      return
    }
    const rules = reporter.primary.spec.logMonitoring?.ingestRuleMatchers ?? []
    await settings.createLogMonitoringSetting(entity, name, rules, { signal })
    report('True', 'Created', 'The rule is created')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) report('False', 'Error', dynatraceApiMessage(error))
    throw error
  }
}
