/** Whether a workload is ready. */
import type { DaemonSet, Deployment, KubeObject, StatefulSet } from '@reeve/kube'

/** The state of a workload. */
export interface Readiness {
  /** What is missing, such as `1 of 2 replicas ready`; absent when it is ready. */
  readonly note?: string
  /** It will not become ready by waiting. */
  readonly isStuck: boolean
}

/**
 * The readiness of an object. Objects that are not workloads are ready as soon as they exist.
 *
 * @example
 * const { note } = readinessOf(deployment) // 1 of 2 replicas ready
 */
export function readinessOf(object: KubeObject): Readiness {
  // The kind determines the type.
  if (object.kind === 'Deployment') return deploymentReadiness(object as Deployment)
  if (object.kind === 'StatefulSet') return statefulSetReadiness(object as StatefulSet)
  return object.kind === 'DaemonSet' ? daemonSetReadiness(object as DaemonSet) : { isStuck: false }
}

function deploymentReadiness({ metadata, spec, status }: Deployment): Readiness {
  const stuck = status?.conditions?.find(({ type, reason }) => type === 'Progressing' && reason === DEADLINE_EXCEEDED)
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  if (stuck !== undefined && isObserved)
    return { isStuck: true, note: stuck.message ?? 'the rollout does not progress' }
  const ready = Math.min(status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0)
  const hasLeftovers = (status?.replicas ?? 0) > (status?.updatedReplicas ?? 0)
  return counted(spec?.replicas ?? 1, ready, isObserved && !hasLeftovers)
}

function statefulSetReadiness({ metadata, spec, status }: StatefulSet): Readiness {
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  return counted(spec?.replicas ?? 1, Math.min(status?.updatedReplicas ?? 0, status?.readyReplicas ?? 0), isObserved)
}

function daemonSetReadiness({ metadata, status }: DaemonSet): Readiness {
  const isObserved = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  const ready = Math.min(status?.updatedNumberScheduled ?? 0, status?.numberReady ?? 0)
  return counted(status?.desiredNumberScheduled ?? 0, ready, isObserved)
}

const DEADLINE_EXCEEDED = 'ProgressDeadlineExceeded'

function counted(wanted: number, ready: number, isSettled: boolean): Readiness {
  if (isSettled && ready >= wanted) return { isStuck: false }
  return { isStuck: false, note: `${ready} of ${wanted} replicas ready` }
}
