/** The status of a WebApp: phase, numbers and conditions. */
import { type Condition, setCondition } from '@reeve/runtime'
import type { Phase, WebAppStatus } from './api/webapp.ts'
import { derivePhase, type Observation } from './phase.ts'
import { selectorText } from './render/labels.ts'

type ConditionState = Omit<Condition, 'lastTransitionTime'>

const IN_PROGRESS: ReadonlySet<Phase> = new Set<Phase>(['Created', 'Reconciling', 'WaitingForPods', 'Scaling'])

/**
 * Derives the status to report. Unchanged observations give an equal status, so that nothing is written.
 *
 * @example
 * const status = deriveStatus({ webapp, deployment, failure: undefined }, clock)
 */
export function deriveStatus(observation: Observation, clock: { now(): number }): WebAppStatus {
  const { webapp, deployment, failure } = observation
  const { phase, message } = derivePhase(observation)
  const observedGeneration = webapp.metadata.generation
  const { replicas = 0, availableReplicas = 0 } = deployment?.status ?? {}
  const states: readonly ConditionState[] = [
    { type: 'Ready', status: phase === 'Ready' ? 'True' : 'False', reason: phase, message },
    {
      type: 'Available',
      status: isAvailable(observation) ? 'True' : 'False',
      reason: isAvailable(observation) ? 'MinimumReplicasAvailable' : 'MinimumReplicasUnavailable',
      // Objects that were stored before the schema may have no spec.
      message: `${availableReplicas} of ${webapp.spec?.replicas ?? 0} replicas available`,
    },
    {
      type: 'Progressing',
      status: IN_PROGRESS.has(phase) ? 'True' : 'False',
      reason: phase,
      message: IN_PROGRESS.has(phase) ? message : 'nothing is being changed',
    },
    {
      type: 'Degraded',
      status: phase === 'Degraded' ? 'True' : 'False',
      reason: phase === 'Degraded' ? degradedReason(failure) : 'AsExpected',
      message: phase === 'Degraded' ? message : '',
    },
  ]
  let { conditions } = webapp.status ?? {}
  for (const state of states) {
    conditions = setCondition(
      conditions,
      { ...state, ...(observedGeneration !== undefined && { observedGeneration }) },
      clock,
    )
  }
  return {
    phase,
    ...(observedGeneration !== undefined && { observedGeneration }),
    replicas,
    availableReplicas,
    selector: selectorText(webapp),
    ...(conditions && { conditions }),
  }
}

function isAvailable({ webapp, deployment }: Observation): boolean {
  if (deployment === undefined) return false
  const available = deployment.status?.conditions?.find(({ type }) => type === 'Available')
  return available?.status === 'True' || webapp.spec?.replicas === 0
}

/** Errors of the runtime and of validation carry a stable code; it makes a good reason in CamelCase. */
function degradedReason(failure: Error | undefined): string {
  if (failure === undefined) return 'ReplicasUnavailable'
  const code = 'code' in failure && typeof failure.code === 'string' ? failure.code : 'RECONCILE_FAILED'
  return code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}
