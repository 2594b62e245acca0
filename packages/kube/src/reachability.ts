/** Reports once that a server cannot be reached or rejects the credentials, instead of once for each failed request. */
import type { ClientLogger, Clock, ConnectionPhase } from '@reeve/http'
import { ConnectionError } from './errors.ts'
import { CHECK_CREDENTIALS, CHECK_SILENCE, connectionAdvice, rootMessage } from './explain-failure.ts'

/** How long a problem may last before it is reported again. */
const REMINDER_MS = 60_000
/** A call that waits this long in vain shows that the server is silent, whatever then ends the call. */
const SILENCE_MS = 10_000
const UNAUTHORIZED = 401

/** What {@link Reachability} works with. */
export interface ReachabilityOptions {
  /** The address, for people; without a password. */
  readonly server: string
  readonly clock: Clock
  readonly logger?: ClientLogger
}

/** Whether the server of a client responds, and accepts its credentials. */
export class Reachability {
  readonly #options: ReachabilityOptions
  #lostAt: number | undefined
  #lostReportedAt = 0
  #rejectedAt: number | undefined
  #rejectionReportedAt = 0
  #isClosed = false

  constructor(options: ReachabilityOptions) {
    this.#options = options
  }

  /** The address of the server, without a password. */
  get server(): string {
    return this.#options.server
  }

  /** The client is closed: what fails from now on is not reported. */
  stopReporting(): void {
    this.#isClosed = true
  }

  /** An attempt has ended: with a response, whatever its status, or with an error. */
  attempted(status: number | undefined, error: unknown): void {
    if (this.#isClosed) return
    if (status === undefined) {
      if (error instanceof ConnectionError) this.#lost(error.phase, rootMessage(error), connectionAdvice(error))
      return
    }
    this.#reached()
    if (status === UNAUTHORIZED) this.#rejected()
    else this.#accepted()
  }

  /** A call ended without a response. Only for calls with a deadline: the response to a stream may come late. */
  unanswered(waitedMs: number): void {
    if (this.#isClosed || waitedMs < SILENCE_MS) return
    this.#lost('request', `no response within ${Math.floor(waitedMs / 1_000)} s`, CHECK_SILENCE)
  }

  #reached(): void {
    if (this.#lostAt === undefined) return
    const { server, clock, logger } = this.#options
    const unreachableMs = clock.now() - this.#lostAt
    this.#lostAt = undefined
    logger?.warn({ server, unreachableMs }, `the API server ${server} responds again`)
  }

  #lost(phase: ConnectionPhase, problem: string, advice: string): void {
    const { server, clock, logger } = this.#options
    const now = clock.now()
    if (this.#lostAt !== undefined && now - this.#lostReportedAt < REMINDER_MS) return
    this.#lostAt ??= now
    this.#lostReportedAt = now
    logger?.warn(
      { server, phase, unreachableMs: now - this.#lostAt },
      `cannot reach the API server ${server} (${problem}); retrying. ${advice}`,
    )
  }

  #rejected(): void {
    const { server, clock, logger } = this.#options
    const now = clock.now()
    if (this.#rejectedAt !== undefined && now - this.#rejectionReportedAt < REMINDER_MS) return
    this.#rejectedAt ??= now
    this.#rejectionReportedAt = now
    logger?.warn(
      { server, rejectedMs: now - this.#rejectedAt },
      `the API server ${server} rejects the credentials (401 Unauthorized). ${CHECK_CREDENTIALS}`,
    )
  }

  #accepted(): void {
    if (this.#rejectedAt === undefined) return
    const { server, clock, logger } = this.#options
    const rejectedMs = clock.now() - this.#rejectedAt
    this.#rejectedAt = undefined
    logger?.warn({ server, rejectedMs }, `the API server ${server} accepts the credentials again`)
  }
}
