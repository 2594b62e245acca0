/** Which phase a WebApp is in, from what was observed. */
import type { Deployment } from '@reeve/kube'
import type { Phase, WebApp } from './api/webapp.ts'

/** What the phase is derived from. */
export interface Observation {
  readonly webapp: WebApp
  /** The live Deployment, `undefined` when it does not exist (yet). */
  readonly deployment: Deployment | undefined
  /** Why this reconcile could not do its work. */
  readonly failure: Error | undefined
}

/** A phase, and the sentence that explains it. */
export interface PhaseReport {
  readonly phase: Phase
  readonly message: string
}

/** Phases of a WebApp that has not served yet. */
const STARTING: ReadonlySet<Phase | undefined> = new Set<Phase | undefined>([undefined, 'Created', 'WaitingForPods'])

/**
 * Derives the phase. Pure: the same observation gives the same phase, except that what is going on (first start,
 * scaling, roll-out) can only be told with the previous phase at hand.
 *
 * @example
 * const { phase, message } = derivePhase({ webapp, deployment, failure: undefined })
 */
export function derivePhase({ webapp, deployment, failure }: Observation): PhaseReport {
  if (webapp.metadata.deletionTimestamp !== undefined) {
    return { phase: 'Deleting', message: 'the WebApp and everything it owns is being deleted' }
  }
  if (failure !== undefined) return { phase: 'Degraded', message: failure.message }
  const { replicas } = webapp.spec
  const isStarting = STARTING.has(webapp.status?.phase)
  if (deployment === undefined || !isObserved(deployment)) {
    if (isStarting) return { phase: 'WaitingForPods', message: `waiting for ${count(replicas)} to start` }
    return deployment !== undefined && deployment.status?.replicas !== replicas
      ? { phase: 'Scaling', message: `going to ${count(replicas)}` }
      : { phase: 'Reconciling', message: 'the change is being rolled out' }
  }
  const stuck = deployment.status?.conditions?.find(({ type, status }) => type === 'Progressing' && status === 'False')
  if (stuck?.reason === 'ProgressDeadlineExceeded') {
    return { phase: 'Degraded', message: `the roll-out does not progress: ${stuck.message ?? 'no reason given'}` }
  }
  const { replicas: total = 0, updatedReplicas = 0, availableReplicas = 0 } = deployment.status ?? {}
  if (updatedReplicas < total) {
    return { phase: 'Reconciling', message: `${updatedReplicas} of ${count(replicas)} run the new version` }
  }
  if (total === replicas && availableReplicas >= replicas) {
    return { phase: 'Ready', message: `${count(replicas)} available` }
  }
  const progress = `${availableReplicas} of ${count(replicas)} available`
  if (isStarting) return { phase: 'WaitingForPods', message: progress }
  if (total !== replicas || webapp.status?.phase === 'Scaling') return { phase: 'Scaling', message: progress }
  if (webapp.status?.phase === 'Reconciling') return { phase: 'Reconciling', message: progress }
  return { phase: 'Degraded', message: `${progress}: replicas that served before do not any more` }
}

/** The Deployment's status speaks of the spec as it is now, not of an earlier one. */
function isObserved({ metadata, status }: Deployment): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0)
}

function count(replicas: number): string {
  return replicas === 1 ? '1 replica' : `${replicas} replicas`
}
