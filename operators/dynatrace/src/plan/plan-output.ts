/** A plan for people and for programs: as text, in numbers, and as a document. */
import {
  type PlanSummary as ClusterSummary,
  summaryOf as clusterSummaryOf,
  type FormatOptions,
  formatText as formatPlan,
} from '@reeve/plan'
import type { Plan } from './plan.ts'

export { hasErrors } from '@reeve/plan'

/**
 * The plan as text, with a line feed at its end.
 *
 * @example
 * process.stdout.write(formatText(plan, { isColoured: process.stdout.isTTY }))
 */
export function formatText(plan: Plan, options: Omit<FormatOptions, 'outside'> = {}): string {
  const changes = plan.tenant.map(({ action, what, tenant }) => ({ action, what, where: tenant }))
  return formatPlan(plan, { ...options, outside: { title: 'in the tenant', changes } })
}

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
