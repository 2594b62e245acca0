/**
 * The behaviour of the containers of a simulated pod. Tests set it with the annotations that the embedded cluster
 * supports.
 */
import type { Pod } from './objects.ts'

/**
 * Annotations that control a simulated pod or node: the subset of the embedded cluster's annotations that is needed
 * here.
 */
export const ANNOTATIONS = {
  /**
   * `NotReady`: the pod runs but never becomes ready; on a node: the node is not ready. `CrashLoopBackOff`: the
   * containers repeatedly exit with code 1. Anything else, such as `ImagePullBackOff`: they never start.
   */
  fail: 'simulator.reeve.dev/fail',
  /** Exit code of all containers. */
  exitCode: 'simulator.reeve.dev/exit-code',
  /** How long the containers run: `500ms`, `30s`, `5m`, `1h` or `forever`. */
  runFor: 'simulator.reeve.dev/run-for',
} as const

export interface PodBehaviour {
  readonly isReady: boolean
  readonly exitCode: number
  /** `Infinity`: until the pod is deleted. */
  readonly runForMs: number
  readonly waitingReason: string | undefined
}

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const RUNNING_FAILURES = new Set(['NotReady', 'CrashLoopBackOff'])

/**
 * Without annotations, a pod with restart policy `Always` runs forever and is ready, and any other (a Job's) succeeds
 * at once. With an exit code and no duration, it exits at once.
 */
export function behaviourOf(pod: Pod): PodBehaviour {
  const annotations = pod.metadata.annotations ?? {}
  const fail = annotations[ANNOTATIONS.fail]
  const exitCode = annotations[ANNOTATIONS.exitCode] ?? (fail === 'CrashLoopBackOff' ? '1' : undefined)
  const runFor = annotations[ANNOTATIONS.runFor]
  const isEndless = exitCode === undefined && (pod.spec.restartPolicy ?? 'Always') === 'Always'
  return {
    isReady: fail !== 'NotReady',
    exitCode: Number(exitCode ?? 0),
    runForMs: durationMs(runFor) ?? (isEndless ? Number.POSITIVE_INFINITY : 0),
    waitingReason: fail === undefined || RUNNING_FAILURES.has(fail) ? undefined : fail,
  }
}

/** Whether containers of the pod run or ran: volumes that are mounted stay mounted. */
export function hasStarted({ status }: Pod): boolean {
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return statuses.some(({ state, lastState }) => state.waiting === undefined || lastState?.terminated !== undefined)
}

function durationMs(text: string | undefined): number | undefined {
  if (text === 'forever') return Number.POSITIVE_INFINITY
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text ?? '') ?? []
  return amount === undefined || unit === undefined ? undefined : Number(amount) * (UNITS_MS[unit] ?? 1)
}
