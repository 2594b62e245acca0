/** What the containers of a simulated pod do: tests say it with annotations on the pod. */
import type { Pod } from './objects.ts'

/** Annotations that steer a simulated pod or node. */
export const ANNOTATIONS = {
  /** `false`: the pod runs but never becomes ready; on a node: the node is not ready. */
  ready: 'simulation.reeve.dev/ready',
  /** Exit code of all containers once they end. */
  exitCode: 'simulation.reeve.dev/exit-code',
  /** How long the containers run, in milliseconds. */
  runForMs: 'simulation.reeve.dev/run-for-ms',
  /** The containers never start and wait with this reason, such as `ImagePullBackOff`. */
  waitingReason: 'simulation.reeve.dev/waiting-reason',
} as const

export interface PodBehaviour {
  readonly isReady: boolean
  readonly exitCode: number
  /** `Infinity`: until the pod is deleted. */
  readonly runForMs: number
  readonly waitingReason: string | undefined
}

/**
 * Without annotations a pod whose containers are restarted always runs for ever and is ready, and any other (a Job's)
 * succeeds at once. An exit code without a duration means: ends at once.
 */
export function behaviourOf(pod: Pod): PodBehaviour {
  const annotations = pod.metadata.annotations ?? {}
  const exitCode = annotations[ANNOTATIONS.exitCode]
  const runForMs = annotations[ANNOTATIONS.runForMs]
  const isEndless = exitCode === undefined && (pod.spec.restartPolicy ?? 'Always') === 'Always'
  return {
    isReady: annotations[ANNOTATIONS.ready] !== 'false',
    exitCode: Number(exitCode ?? 0),
    runForMs: runForMs === undefined ? (isEndless ? Number.POSITIVE_INFINITY : 0) : Number(runForMs),
    waitingReason: annotations[ANNOTATIONS.waitingReason],
  }
}
