/** What can be wrong with a run. */

/**
 * Kinds of problems:
 *
 * - `state-differs`: two runs that should end alike do not
 * - `not-settled`: the operator goes on writing, or the state never comes to agree
 * - `repeated-write`: an object was created, deleted or written more often than without the fault
 * - `activity-at-rest`: writes, many reads or many reconciles while there is nothing to do
 * - `reconcile-error`: a reconcile failed, or an error was logged, that is not declared as expected
 * - `rejected-request`: the server rejected a request as invalid or forbidden
 * - `goal-not-reached`: a declared object is not ready, or not gone, after all came to rest
 * - `step-failed`: a user cannot do what the scenario says
 * - `left-behind`: what the operator made is still there after its owner is gone
 * - `foreign-object`: the operator changed or deleted an object that belongs to someone else
 * - `foreign-write-lost`: what someone else wrote is gone
 * - `runaway`: the run would never have ended
 * - `instance-ended`: an instance ended by itself, with an error, or not at all
 * - `late-write`: a write by an instance that may no longer write
 * - `unnoticed`: a dead connection was not noticed, or shows neither in health nor in metrics
 * - `impatient`: a request was repeated before the server allowed it
 * - `invisible-field`: a field of the declared object shows nowhere
 * - `unexplained`: the operator is stuck and does not say why
 */
export type ProblemKind =
  | 'state-differs'
  | 'not-settled'
  | 'repeated-write'
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
