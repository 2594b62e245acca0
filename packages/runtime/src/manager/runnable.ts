/** What a manager starts and stops. */

/**
 * Something that runs until it is told to stop: a controller, a webhook server, an informer set.
 *
 * *Guarantees expected of an implementation*: `run` resolves only when nothing of it runs any more, at the
 * latest soon after `signal` aborts; it rejects when it cannot go on, which stops the whole manager.
 */
export interface Runnable {
  /** Shown in logs and health. */
  readonly name: string
  /** True for what must run in one process at a time: it starts after the lease is won. */
  readonly needsLeadership: boolean
  run(signal: AbortSignal): Promise<void>
}
