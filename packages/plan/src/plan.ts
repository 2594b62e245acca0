/** The result of a dry run. */
import type { PlannedChange } from './compare-states.ts'

/** A resource that was planned for. */
export interface PlannedResource {
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  /** What it would run, such as versions by component; shown beside its name. @default nothing */
  readonly versions?: Readonly<Record<string, string>>
}

/** A message of a plan besides its changes. */
export interface PlanFinding {
  /** An error is a rejection or a failure, and makes the plan incomplete. */
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  /** Such as `WebApp shop/web`. */
  readonly object?: string
  /** The rule of admission behind it. */
  readonly rule?: string
  /** The position, for a finding about a file; line and column count from 1. */
  readonly file?: string
  readonly line?: number
  readonly column?: number
}

/** What would happen. Nothing in it is secret. */
export interface Plan {
  readonly resources: readonly PlannedResource[]
  /** By resource and component. */
  readonly changes: readonly PlannedChange[]
  /** Objects of the resources that stay as they are. */
  readonly unchanged: number
  readonly findings: readonly PlanFinding[]
}
