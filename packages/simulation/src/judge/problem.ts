/** What can be wrong with a run. */

/**
 * Kinds of problems:
 *
 * - `state-differs`: two runs that should end alike do not
 * - `not-settled`: the operator keeps writing, or the state never agrees
 * - `repeated-write`: an object was created, deleted or written more often than without the fault
 * - `removed-outside`: what exists outside the cluster was removed, and made again, because of an old view
 * - `activity-at-rest`: writes, many reads or many reconciles while there is nothing to do
 * - `reconcile-error`: a reconcile failed, or an error was logged, that is not declared as expected
 * - `rejected-request`: the server rejected a request as invalid or forbidden
 * - `goal-not-reached`: a declared object is not ready, or not deleted, after the state settled
 * - `step-failed`: a user cannot do what the scenario says
 * - `left-behind`: what the operator created still exists after its owner was deleted
 * - `foreign-object`: the operator changed or deleted an object of another owner
 * - `foreign-write-lost`: a write of another client is lost
 * - `runaway`: the run would never have ended
 * - `instance-ended`: an instance exited, with an error, or not at all
 * - `late-write`: a write by an instance that may no longer write
 * - `unnoticed`: a dead connection was not noticed, or shows neither in health nor in metrics
 * - `impatient`: a request was repeated before the server allowed it
 * - `invisible-field`: a field of the declared object shows nowhere
 * - `false-error`: a declared object reports an error although nothing failed
 * - `unexplained`: the operator is stuck and does not say why
 */
export type ProblemKind =
  | 'state-differs'
  | 'not-settled'
  | 'repeated-write'
  | 'removed-outside'
  | 'activity-at-rest'
  | 'reconcile-error'
  | 'rejected-request'
  | 'goal-not-reached'
  | 'step-failed'
  | 'left-behind'
  | 'foreign-object'
  | 'foreign-write-lost'
  | 'runaway'
  | 'instance-ended'
  | 'late-write'
  | 'unnoticed'
  | 'impatient'
  | 'invisible-field'
  | 'false-error'
  | 'unexplained'

/** Something that is wrong. */
export interface Problem {
  readonly kind: ProblemKind
  /** A sentence without a full stop. */
  readonly message: string
}

/** Makes a problem. */
export function problem(kind: ProblemKind, message: string): Problem {
  return { kind, message }
}
