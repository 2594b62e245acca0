/** A plan for people. */
import { type FormatOptions, formatText as formatPlan } from '@reeve/plan'
import type { Plan } from './plan.ts'

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
