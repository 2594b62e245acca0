/** Rules of the tenant that decide which metadata telemetry carries. */
import { hasMetadataEnrichment, hasOtlpExporter } from '../../../../api/dynakube/feature-facts.ts'
import { featureFlags } from '../../../../api/feature-flags.ts'
import { REASONS } from '../../conditions/reasons.ts'
import { type DynaKubeComponent, type DynaKubeContext, RENDERS_NOTHING } from '../../dynakube-component.ts'
import { reported } from '../../tenant-requests.ts'
import { clusterEntity } from '../cluster/cluster.ts'
import { oneAgentConnection } from '../connection/one-agent-connection.ts'
import { mayAskFor, missingOptionalScopes } from '../tenant/optional-scopes.ts'
import { tenant, tenantOf } from '../tenant/tenant.ts'

const TYPE = 'MetadataEnrichmentRules'

/** Keeps the rules in the status. */
export const enrichmentRules: DynaKubeComponent = {
  name: 'enrichment rules',
  needs: [tenant, oneAgentConnection],
  after: [clusterEntity],
  isEnabled: (dynakube) =>
    hasMetadataEnrichment(dynakube) || featureFlags(dynakube).nodeImagePull || hasOtlpExporter(dynakube),
  conditions: [TYPE],
  ...RENDERS_NOTHING,
  async resolve(context) {
    await lookUp(context)
    return undefined
  },
  report({ state }, reporter) {
    if (state === 'disabled' && reporter.status?.metadataEnrichment) reporter.update({ metadataEnrichment: undefined })
  },
}

async function lookUp(context: DynaKubeContext): Promise<void> {
  const { reporter, signal } = context
  if (!mayAskFor(context, TYPE, 'settings.read')) return
  const fails = (reason: string, message: string) =>
    reporter.setCondition({ type: TYPE, status: 'False', reason, message })
  fails(REASONS.statusOutdated, 'The rules are looked up')
  if (missingOptionalScopes(reporter, 'settings.read').length > 0) {
    fails(REASONS.scopeMissing, 'apiToken lacks settings.read, or no feature needs it; there are no rules')
    return
  }
  const { kubeSystemUUID = '', kubernetesClusterMEID = '' } = reporter.status ?? {}
  const { enrichment } = tenantOf(context).client
  const rules = await reported(context, TYPE, () => enrichment.rules(kubeSystemUUID, kubernetesClusterMEID, { signal }))
  reporter.update({ metadataEnrichment: { rules: rules.map((rule) => ({ ...rule })) } })
  reporter.setCondition({
    type: TYPE,
    status: 'True',
    reason: REASONS.statusUpdated,
    message: `${rules.length} rule(s)`,
  })
}
