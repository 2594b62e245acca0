/** The condition `Ready`, which `kubectl wait --for=condition=Ready` waits for. */
import type { Condition, ReconcileSummary } from '@reeve/runtime'

/** The parts of a summary that matter. */
type Summary = Pick<ReconcileSummary<never>, 'failure'> & {
  readonly outcomes: readonly { readonly name: string; readonly isReady: boolean }[]
}

/**
 * The condition for a phase. Its message names the components that are not ready, or the first failure.
 *
 * @example
 * reporter.setCondition(readyCondition('Deploying', summary))
 * // { type: 'Ready', status: 'False', reason: 'Deploying', message: 'waiting for ActiveGate' }
 */
export function readyCondition(
  phase: 'Running' | 'Deploying' | 'Error',
  { failure, outcomes }: Summary,
): Omit<Condition, 'lastTransitionTime'> {
  if (phase === 'Running') return { type: 'Ready', status: 'True', reason: phase, message: 'all components are ready' }
  const waiting = outcomes.filter(({ isReady }) => !isReady).map(({ name }) => name)
  const message = phase === 'Error' && failure ? failure.message : `waiting for ${waiting.join(', ') || 'pods'}`
  return { type: 'Ready', status: 'False', reason: phase, message }
}
