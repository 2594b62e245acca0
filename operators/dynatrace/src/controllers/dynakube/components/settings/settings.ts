/** Settings of the tenant that the operator reads or makes for features. */
import { hasLogMonitoring } from '../../../../api/dynakube/feature-facts.ts'
import type { Component } from '../../component.ts'
import { CONDITIONS } from '../../condition-types.ts'
import { createLogRule, needsEnrichmentRules, resolveEnrichmentRules } from '../../resolve/settings.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { oneAgentTenantSecret } from '../connection/tenant-secrets.ts'

/** The rule that says which logs are sent. */
export const logRule: Component = {
  name: 'log rule',
  needs: [oneAgentTenantSecret],
  after: [clusterEntity],
  isEnabled: hasLogMonitoring,
  mayOwn: () => [],
  async resolve(pass) {
    await createLogRule(pass)
    return undefined
  },
  render: () => [],
  disable: (draft) => draft.remove(CONDITIONS.logMonitoringSettings),
}

/** The rules that decide what telemetry carries. */
export const enrichmentRules: Component = {
  name: 'enrichment rules',
  needs: [oneAgentTenantSecret],
  after: [clusterEntity],
  isEnabled: needsEnrichmentRules,
  mayOwn: () => [],
  async resolve(pass) {
    await resolveEnrichmentRules(pass)
    return undefined
  },
  render: () => [],
  disable(draft) {
    if (draft.condition(CONDITIONS.enrichmentRules) !== undefined) draft.update({ metadataEnrichment: undefined })
    draft.remove(CONDITIONS.enrichmentRules)
  },
}
