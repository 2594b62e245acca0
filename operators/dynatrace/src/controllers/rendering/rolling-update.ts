/** The pace at which agents on nodes are replaced. */
import type { DaemonSet } from '@reeve/kube'
import { featureFlags } from '../../api/feature-flags.ts'
import type { DynaKube } from '../../api/latest.ts'

type UpdateStrategy = NonNullable<NonNullable<DaemonSet['spec']>['updateStrategy']>

/** What users write about the pace of a DaemonSet. */
export interface RollingUpdate {
  readonly maxUnavailable?: number | string
  readonly maxSurge?: number | string
}

/**
 * The update strategy of agents. What the user writes replaces the flag oneagent-max-unavailable altogether.
 *
 * @example
 * updateStrategy: agentUpdateStrategy(dynakube, mode?.rollingUpdate)
 */
export const agentUpdateStrategy = (dynakube: DynaKube, given: RollingUpdate | undefined): UpdateStrategy => ({
  rollingUpdate: given ?? { maxUnavailable: featureFlags(dynakube).oneAgentMaxUnavailable },
})
