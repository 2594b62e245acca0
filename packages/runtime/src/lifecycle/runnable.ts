/** What a manager starts and stops. */

/**
 * The order in which a manager starts, and in reverse stops: servers for health and metrics first, so that a slow
 * start can be watched; webhooks before caches, because a list of a custom resource may need its conversion webhook;
 * caches before everything that reads them.
 */
export const START_PHASES = ['servers', 'webhooks', 'caches', 'workers'] as const

/** One of {@link START_PHASES}. */
export type StartPhase = (typeof START_PHASES)[number]

/**
 * Something that runs until its signal aborts: a controller, a webhook server, an informer set.
 *
 * *Guarantees expected of an implementation*: `run` resolves only when it has stopped completely, at the
 * latest soon after `signal` aborts; it rejects when it cannot continue, which stops the whole manager.
 */
export interface Runnable {
  /** Shown in logs and health. */
  readonly name: string
  /** True for what must run in one process at a time: it starts after the lease is won. */
  readonly needsLeadership: boolean
  /** Whether it works on the objects of its shards only, so that it may run in several processes. @default false */
  readonly isSharded?: boolean
  /** What it has to be started before. Ignored when `needsLeadership`. @default 'workers' */
  readonly phase?: StartPhase
  /**
   * Whether caches may need it while they fill, through a Service that only has ready pods: a conversion webhook. The
   * manager is ready before its caches are filled then. @default false
   */
  readonly isNeededByCaches?: boolean
  run(signal: AbortSignal): Promise<void>
  /**
   * Resolves when the parts after it may start: the server listens, the cache is filled. Called after `run`.
   * @default immediately
   */
  whenReady?(signal: AbortSignal): Promise<void>
}
