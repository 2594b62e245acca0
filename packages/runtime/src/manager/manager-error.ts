/** How a manager ends when it does not end well. */
import { RuntimeError } from '../runtime-error.ts'

/** A part failed, so the manager stopped everything. `cause` is the part's own error. */
export class RunnableFailedError extends RuntimeError {
  override readonly name = 'RunnableFailedError'
  /** Name of the part that failed. */
  readonly runnable: string

  constructor(runnable: string, cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause)
    super('RUNNABLE_FAILED', `${runnable} failed: ${message}`, { cause })
    this.runnable = runnable
  }
}

/** Parts were not ready in time, for example a cache whose resource is not served. */
export class StartTimeoutError extends RuntimeError {
  override readonly name = 'StartTimeoutError'
  readonly notReady: readonly string[]

  constructor(notReady: readonly string[], timeoutMs: number) {
    super(
      'START_TIMEOUT',
      `not ready within ${timeoutMs} ms: ${notReady.join(', ')}; see the log for the reason, or raise startTimeoutMs`,
    )
    this.notReady = notReady
  }
}

/** Parts were still running when the grace was over. The process must exit: they cannot be stopped any other way. */
export class ShutdownTimeoutError extends RuntimeError {
  override readonly name = 'ShutdownTimeoutError'
  readonly notStopped: readonly string[]

  constructor(notStopped: readonly string[], graceMs: number) {
    super(
      'SHUTDOWN_TIMEOUT',
      `still running after a grace of ${graceMs} ms: ${notStopped.join(', ')}; ` +
        'make them end when their signal aborts, or raise shutdownGraceMs',
    )
    this.notStopped = notStopped
  }
}
