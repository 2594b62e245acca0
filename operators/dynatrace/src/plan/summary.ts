/** A plan in numbers, and as a value for other programs. */
import { type PlanSummary as ClusterSummary, summaryOf as clusterSummaryOf } from '@reeve/plan'
import type { Plan } from './plan.ts'

export { hasErrors } from '@reeve/plan'

/** How many objects, by what would happen to them. */
export interface PlanSummary extends ClusterSummary {
  /** Changes in tenants. */
  readonly tenant: number
}

/** Counts. */
export const summaryOf = (plan: Plan): PlanSummary => ({ ...clusterSummaryOf(plan), tenant: plan.tenant.length })

/** Whether there is anything to do. */
export const hasChanges = ({ changes, tenant }: Plan): boolean => changes.length + tenant.length > 0

/**
 * The plan for other programs. The shape is stable: members are added, never changed, as long as `formatVersion` stays.
 *
 * @example
 * process.stdout.write(JSON.stringify(asDocument(plan)))
 */
export function asDocument(plan: Plan) {
  const { resources, changes, tenant, findings } = plan
  return { formatVersion: 1, summary: summaryOf(plan), resources, changes, tenant, findings }
}
