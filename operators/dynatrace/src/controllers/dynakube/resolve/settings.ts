/** Settings of the tenant that the operator reads or makes for features. */
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../api/dynakube/feature-facts.ts'
import { featureFlags } from '../../../api/feature-flags.ts'
import type { DynaKube } from '../../../api/latest.ts'
import { reported } from '../components/connection/connection-info.ts'
import { CONDITIONS, dynatraceApiMessage, REASONS } from '../condition-types.ts'
import type { Pass } from './pass.ts'
import { mayAskFor, missingOptionalScopes } from './tokens.ts'

/** Whether rules of the tenant decide what telemetry carries. */
export const needsEnrichmentRules = (dynakube: DynaKube): boolean =>
  hasMetadataEnrichment(dynakube) || featureFlags(dynakube).nodeImagePull || hasOtlpExporter(dynakube)

/** Keeps the rules of the tenant in the status. *Errors*: errors of the tenant. */
export async function resolveEnrichmentRules(pass: Pass): Promise<void> {
  const { draft, tenant, signal } = pass
  const type = CONDITIONS.enrichmentRules
  if (!mayAskFor(pass, type, 'settings.read')) return
  draft.set(type, 'False', REASONS.statusOutdated, 'The rules are looked up')
  if (missingOptionalScopes(pass, 'settings.read').length > 0) {
    draft.set(
      type,
      'False',
      REASONS.scopeMissing,
      'apiToken lacks settings.read, or no feature asks for it; there are no rules',
    )
    return
  }
  const { kubeSystemUUID = '', kubernetesClusterMEID = '' } = draft.status
  const rules = await reported(pass, type, () =>
    tenant.enrichment.rules(kubeSystemUUID, kubernetesClusterMEID, { signal }),
  )
  draft.update({ metadataEnrichment: { rules: rules.map((rule) => ({ ...rule })) } })
  draft.set(type, 'True', REASONS.statusUpdated, `${rules.length} rule(s)`)
}

/** Makes the rule that says which logs are sent, once; the user owns it from then on. */
export async function createLogRule(pass: Pass): Promise<void> {
  const { draft, tenant, signal } = pass
  const type = CONDITIONS.logMonitoringSettings
  if (!mayAskFor(pass, type, 'settings.read', 'settings.write')) return
  // Restarts the clock of the condition: the tenant is asked once per request threshold, not from then on.
  draft.set(type, 'False', REASONS.statusOutdated, 'The rule is looked up')
  const missing = missingOptionalScopes(pass, 'settings.read', 'settings.write')
  if (missing.length > 0) {
    draft.set(type, 'False', REASONS.scopeMissing, `apiToken lacks ${missing.join(', ')}; no rule is made`)
    return
  }
  const { kubernetesClusterMEID = '', kubernetesClusterName = '' } = draft.status
  if (kubernetesClusterMEID === '') {
    draft.set(type, 'False', 'Skipped', 'The cluster has no entity yet')
    return
  }
  try {
    const { totalCount } = await tenant.settings.logMonitoringSettings(kubernetesClusterMEID, { signal })
    if (totalCount > 0) {
      draft.set(type, 'True', 'AlreadyExist', 'There is a rule, which is left alone')
      return
    }
    const rules = draft.dynakube.spec.logMonitoring?.ingestRuleMatchers ?? []
    await tenant.settings.createLogMonitoringSetting(kubernetesClusterMEID, kubernetesClusterName, rules, {
      signal,
    })
    draft.set(type, 'True', 'Created', 'The rule was made')
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof Error) draft.set(type, 'False', 'Error', dynatraceApiMessage(error))
    throw error
  }
}
