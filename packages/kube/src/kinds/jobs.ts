/** Jobs and cron jobs. */
import type { KubeObject, ObjectMeta } from '../objects.ts'
import type { Condition } from './condition.ts'
import type { LabelSelector } from './label-selector.ts'
import type { PodTemplateSpec } from './pod.ts'

/** The specification of a Job. */
export interface JobSpec {
  readonly template: PodTemplateSpec
  readonly parallelism?: number
  readonly completions?: number
  readonly completionMode?: 'NonIndexed' | 'Indexed'
  readonly backoffLimit?: number
  readonly backoffLimitPerIndex?: number
  readonly activeDeadlineSeconds?: number
  readonly ttlSecondsAfterFinished?: number
  readonly suspend?: boolean
  readonly selector?: LabelSelector
  readonly manualSelector?: boolean
  readonly podFailurePolicy?: { readonly rules: readonly Readonly<Record<string, unknown>>[] }
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed'
}

/** `batch/v1` Job. */
export interface Job extends KubeObject {
  readonly spec?: JobSpec
  readonly status?: {
    readonly active?: number
    readonly ready?: number
    readonly succeeded?: number
    readonly failed?: number
    readonly terminating?: number
    readonly startTime?: string
    readonly completionTime?: string
    readonly conditions?: readonly (Condition & { readonly lastProbeTime?: string })[]
  }
}

/** `batch/v1` CronJob. */
export interface CronJob extends KubeObject {
  readonly spec?: {
    readonly schedule: string
    readonly jobTemplate: { readonly metadata?: ObjectMeta; readonly spec?: JobSpec }
    readonly timeZone?: string
    readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace'
    readonly startingDeadlineSeconds?: number
    readonly suspend?: boolean
    readonly successfulJobsHistoryLimit?: number
    readonly failedJobsHistoryLimit?: number
  }
  readonly status?: {
    readonly lastScheduleTime?: string
    readonly lastSuccessfulTime?: string
    readonly active?: readonly { readonly name?: string; readonly namespace?: string; readonly uid?: string }[]
  }
}
