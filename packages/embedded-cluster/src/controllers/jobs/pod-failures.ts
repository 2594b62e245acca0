/** What a Job's policies say about pods that failed; as pure functions. */
import { isTerminating } from '../kinds/meta.ts'
import { type ContainerStatus, type Pod, podCondition } from '../kinds/pods.ts'
import type { Job, PodFailureRule } from '../kinds/workloads.ts'
import { completionIndex, failuresBefore } from './job-pods.ts'

/** Whether the pod succeeded. */
export function hasSucceeded(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded'
}

/**
 * Whether the pod failed. A pod that is being deleted counts as failed and its Job does not wait for it, unless the Job
 * judges or replaces only pods that have terminated.
 */
export function hasFailed(job: Job, pod: Pod): boolean {
  if (pod.status?.phase === 'Failed') return true
  return !waitsForTermination(job) && isTerminating(pod) && !hasSucceeded(pod)
}

/** Whether a pod that is being deleted keeps its place until it has terminated. */
export function waitsForTermination({ spec }: Job): boolean {
  return spec.podFailurePolicy !== undefined || spec.podReplacementPolicy === 'Failed'
}

/** The action for a failed pod, and why. */
export interface FailureAction {
  readonly action: PodFailureRule['action']
  readonly message: string
}

/** By the first rule that matches; a failure that no rule matches is counted. */
export function failureAction({ spec }: Job, pod: Pod): FailureAction {
  for (const [index, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const why = matchingExit(rule, pod) ?? matchingCondition(rule, pod)
    if (why === undefined) continue
    const message = `pod ${pod.metadata.name} failed with ${why}: ${rule.action} by rule ${index} of podFailurePolicy`
    return { action: rule.action, message }
  }
  return { action: 'Count', message: '' }
}

function matchingExit({ onExitCodes }: PodFailureRule, pod: Pod): string | undefined {
  if (onExitCodes === undefined) return undefined
  const { containerName, operator, values } = onExitCodes
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const exitCode = ({ state }: ContainerStatus) => state.terminated?.exitCode ?? 0
  const found = [...initContainerStatuses, ...containerStatuses].find(
    (status) =>
      (containerName === undefined || status.name === containerName) &&
      exitCode(status) !== 0 &&
      values.includes(exitCode(status)) === (operator === 'In'),
  )
  return found === undefined ? undefined : `exit code ${exitCode(found)} of container ${found.name}`
}

function matchingCondition({ onPodConditions = [] }: PodFailureRule, pod: Pod): string | undefined {
  const found = onPodConditions.find(({ type, status = 'True' }) => podCondition(pod, type)?.status === status)
  return found === undefined ? undefined : `condition ${found.type}`
}

/** The failures of one index of a Job with a limit for each. */
export interface IndexFailures {
  /** Those that count. */
  readonly count: number
  /** Whether its limit is exceeded, or a rule fails it. */
  readonly isFinal: boolean
  /** The last pod that failed. */
  readonly pod: Pod
}

/** By index. Every pod carries the number of failures before it, so that the last one knows them all. */
export function indexFailures(job: Job, pods: readonly Pod[]): ReadonlyMap<number, IndexFailures> {
  const { backoffLimitPerIndex } = job.spec
  const failures = new Map<number, IndexFailures>()
  if (backoffLimitPerIndex === undefined) return failures
  for (const pod of pods) {
    const index = completionIndex(pod)
    if (index === undefined || !hasFailed(job, pod)) continue
    const { action } = failureAction(job, pod)
    const count = failuresBefore(pod) + (action === 'Ignore' ? 0 : 1)
    const last = failures.get(index)
    const isFinal = action === 'FailIndex' || count > backoffLimitPerIndex || (last?.isFinal ?? false)
    if (last === undefined || count >= last.count) failures.set(index, { count, isFinal, pod })
  }
  return failures
}
