/** What an operator deals with outside the cluster, and the way its calls take there. */
import type { Clock } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import type { PlainObject } from '../operator-under-test.ts'

/** A simulated service, process or appliance outside the cluster. Every run has its own. */
export interface OutsideWorld {
  /** Everything in it that counts, by name: a part of the state in which two runs must agree. */
  state(): Readonly<Record<string, PlainObject>>
  /** Names of what others still use, which may stay after everything declared is deleted. @default nothing */
  inUse?(): readonly string[]
  /** Releases what it holds, such as a directory on disk. Called once, at the end of the run, when nothing runs anymore. */
  close?(): void | Promise<void>
}

/** What an outside world is made with. */
export interface OutsidePlace {
  readonly clock: Clock
  readonly random: () => number
  /** Acts on the cluster as something outside does, such as the process of another tool; no fault is injected. */
  readonly client: KubeClient
}

/**
 * Sends one call to the outside world. The exploration may kill the operator before it receives the response, while `act`
 * runs, or right afterwards, and it may make the call fail before or after its effect.
 *
 * *Errors*: {@link OutsideCallError} when the exploration makes the call fail; errors of `act`.
 *
 * @example
 * const answer = await place.call('POST /zones', () => simulator.handle(request))
 */
export type OutsideCall = <R>(
  /** Names the call in points and traces; the same in every run. */
  operation: string,
  /** What the outside world does. `signal` aborts when the operator dies meanwhile: a child process dies with it. */
  act: (signal: AbortSignal) => R | Promise<R>,
) => Promise<R>

/** A call to the outside world that failed by the exploration. Translate it where clients distinguish errors. */
export class OutsideCallError extends Error {
  override readonly name = 'OutsideCallError'
  readonly code = 'OUTSIDE_CALL'
}
