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

/** Phases before pods have to start: of a new WebApp, or one whose Deployment was just written. */
const STARTING: ReadonlySet<Phase | undefined> = new Set<Phase | undefined>([
  undefined,
  'Created',
  'Reconciling',
  'WaitingForPods',
])

/**
 * Derives the phase: Created → Reconciling → WaitingForPods → Ready. Pure: the same observation gives the same phase, but
 * only the previous phase distinguishes replicas that start, or are added, from replicas that stopped serving.
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
  if (deployment === undefined) return { phase: 'Reconciling', message: 'the Deployment is being created' }
  if (!isObserved(deployment)) {
    const { replicas: before } = deployment.status ?? {}
    return before === undefined || before === replicas
      ? { phase: 'Reconciling', message: 'the change is being rolled out' }
      : { phase: 'Scaling', message: `going to ${count(replicas)}` }
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
  if (STARTING.has(webapp.status?.phase)) return { phase: 'WaitingForPods', message: progress }
  if (total !== replicas || webapp.status?.phase === 'Scaling') return { phase: 'Scaling', message: progress }
  return { phase: 'Degraded', message: `${progress}: replicas that were available no longer are` }
}

/** The Deployment's status is about the current spec, not of an earlier one. */
function isObserved({ metadata, status }: Deployment): boolean {
  return status?.observedGeneration !== undefined && status.observedGeneration >= (metadata.generation ?? 0)
}

function count(replicas: number): string {
  return replicas === 1 ? '1 replica' : `${replicas} replicas`
}
