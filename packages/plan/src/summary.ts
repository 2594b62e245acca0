/** A plan in numbers, and as a value for other programs. */
import type { Plan } from './plan.ts'

/** How many objects, by what would happen to them. */
export interface PlanSummary {
  readonly create: number
  readonly change: number
  readonly replace: number
  readonly remove: number
  readonly unchanged: number
}

/**
 * Counts the changes by action.
 *
 * @example
 * const { create, remove } = summaryOf(plan)
 */
export function summaryOf({ changes, unchanged }: Pick<Plan, 'changes' | 'unchanged'>): PlanSummary {
  const count = (action: string) => changes.filter((change) => change.action === action).length
  return {
    create: count('create'),
    change: count('change'),
    replace: count('replace'),
    remove: count('remove'),
    unchanged,
  }
}

/** Whether there is anything to do. */
export const hasChanges = ({ changes }: Pick<Plan, 'changes'>): boolean => changes.length > 0

/** Whether the plan cannot be relied upon. */
export const hasErrors = ({ findings }: Pick<Plan, 'findings'>): boolean =>
  findings.some(({ severity }) => severity === 'error')

/**
 * The plan for other programs. The shape is stable: members are added, never changed, while `formatVersion` stays.
 *
 * @example
 * process.stdout.write(JSON.stringify(asDocument(plan)))
 */
export function asDocument(plan: Plan) {
  const { resources, changes, findings } = plan
  return { formatVersion: 1, summary: summaryOf(plan), resources, changes, findings }
}
