/** Reports once that a server cannot be reached, instead of once for each failed request. */
import type { Clock } from './clock.ts'
import { ConnectionError } from './errors.ts'
import type { ClientLogger } from './observer.ts'

/** How long the server may be unreachable before that is reported again. */
const REMINDER_MS = 60_000

/** What {@link Reachability} works with. */
export interface ReachabilityOptions {
  /** The address, for people; without a password. */
  readonly server: string
  readonly clock: Clock
  readonly logger?: ClientLogger
}

/** Whether the server of a client responds. */
export class Reachability {
  readonly #options: ReachabilityOptions
  #lostAt: number | undefined
  #reportedAt = 0

  constructor(options: ReachabilityOptions) {
    this.#options = options
  }

  /** An attempt has ended: with a response, whatever its status, or with an error. */
  attempted(status: number | undefined, error: unknown): void {
    if (status !== undefined) this.#reached()
    else if (error instanceof ConnectionError) this.#lost(error)
  }

  #reached(): void {
    if (this.#lostAt === undefined) return
    const { server, clock, logger } = this.#options
    const unreachableMs = clock.now() - this.#lostAt
    this.#lostAt = undefined
    logger?.warn({ server, unreachableMs }, `the API server ${server} responds again`)
  }

  #lost(error: ConnectionError): void {
    const { server, clock, logger } = this.#options
    const now = clock.now()
    if (this.#lostAt !== undefined && now - this.#reportedAt < REMINDER_MS) return
    this.#lostAt ??= now
    this.#reportedAt = now
    logger?.warn(
      { server, phase: error.phase, unreachableMs: now - this.#lostAt },
      `cannot reach the API server ${server} (${reasonOf(error)}); retrying. Check the address and whether the server runs`,
    )
  }
}

/** The innermost message: the outer ones name the request, which does not matter here. */
function reasonOf(error: Error): string {
  let innermost: Error = error
  for (let depth = 0; depth < 5 && innermost.cause instanceof Error; depth++) innermost = innermost.cause
  // Node combines the attempts on several addresses in an error without a message.
  if (innermost instanceof AggregateError && innermost.errors[0] instanceof Error) return innermost.errors[0].message
  return innermost.message || error.message
}
