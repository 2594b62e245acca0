/** Errors of leader election. */
import { RuntimeError } from '../runtime-error.ts'

/**
 * A write was rejected, or aborted, because this process is not the leader anymore. Another process is or will be:
 * stop, and do not retry here.
 */
export class NotLeaderError extends RuntimeError {
  override readonly name = 'NotLeaderError'

  constructor(what: string, options?: ErrorOptions) {
    super('NOT_LEADER', `refused to ${what}: this process is not the leader `, options)
  }
}

/** Leadership ended involuntarily: the process should exit and start over as a candidate. */
export class LeadershipLostError extends RuntimeError {
  override readonly name = 'LeadershipLostError'

  constructor(lease: string, why: string, options?: ErrorOptions) {
    super('LEADERSHIP_LOST', `leadership on lease ${lease} is lost: ${why}`, options)
  }
}

/** The times of the election contradict each other, or an identity is missing. */
export class ElectionConfigError extends RuntimeError {
  override readonly name = 'ElectionConfigError'

  constructor(message: string) {
    super('ELECTION_CONFIG', message)
  }
}
