/** One term of leadership: until when it is valid, and its writes in progress. */
import type { Clock, Timer } from '@reeve/http'
import { InFlight } from '../lifecycle/in-flight.ts'
import { NotLeaderError } from './election-error.ts'
import { type Instant, type TimeSource, timeSource } from './time-source.ts'

/** Permission to write while leading. Every permit must be released. */
export interface WritePermit {
  /** Aborts the write when leadership ends while it is in progress, or when its caller gives up. */
  readonly signal: AbortSignal
  /** The write has settled. Calling it twice does nothing. */
  done(): void
}

/** Leadership as other parts of the operator see it. */
export interface Leadership {
  /** Whether a write may begin. Computed from the clock at the time of the call, not by a timer that may be late. */
  readonly isLeader: boolean
  /** Milliseconds until leadership ends unless it is renewed; 0 when not leading. */
  readonly remainingMs: number
  /** Aborts when leadership is lost or resigned; its reason says which. Does not abort before it was won. */
  readonly signal: AbortSignal
  /** How many permits are not released yet. */
  readonly writesInFlight: number
  /**
   * Permission for one write.
   *
   * *Errors*: {@link NotLeaderError} when not leading now.
   *
   * @param what names the write in the error, as in `create Deployment shop/web`
   * @param caller aborts the signal of the permit, too
   */
  permit(what: string, caller?: AbortSignal): WritePermit
  /** Resolves when all permits are released. Rejects with the signal's reason if that aborts first. */
  whenIdle(signal: AbortSignal): Promise<void>
}

/**
 * The state behind {@link Leadership}, driven by the election.
 *
 * *Guarantees*: once ended a term never leads again; no permit is given at or after the deadline, even when the
 * event loop was blocked and the timer has not fired yet.
 */
export class LeadershipTerm implements Leadership {
  readonly #clock: Clock
  readonly #time: TimeSource
  readonly #validMs: number
  readonly #ended = new AbortController()
  readonly #writes = new InFlight()
  #renewed: Instant | undefined
  #expiry: Timer | undefined
  #closed: Error | undefined

  /** @param validMs how long one renewal lasts; `Infinity` for a process that leads without an election */
  constructor(validMs: number, clock: Clock, time: TimeSource = timeSource(clock)) {
    this.#validMs = validMs
    this.#clock = clock
    this.#time = time
  }

  get isLeader(): boolean {
    return this.#closed === undefined && this.remainingMs > 0
  }

  get remainingMs(): number {
    if (this.#renewed === undefined || this.#ended.signal.aborted) return 0
    return Math.max(0, this.#validMs - this.#time.atMostSince(this.#renewed))
  }

  get signal(): AbortSignal {
    return this.#ended.signal
  }

  get writesInFlight(): number {
    return this.#writes.count
  }

  /**
   * The lease was won or renewed by a request that began at `since`. Returns whether this process leads now: not
   * when the response took so long that the deadline has passed.
   *
   * @param expired creates the reason with which the term ends when it is not renewed in time
   */
  renew(since: Instant, expired: () => Error): boolean {
    if (this.#ended.signal.aborted) return false
    const leftMs = this.#validMs - this.#time.atMostSince(since)
    if (leftMs <= 0) return false
    this.#renewed = since
    this.#expiry?.cancel()
    this.#expiry = undefined
    if (leftMs !== Number.POSITIVE_INFINITY) this.#expiry = this.#clock.schedule(leftMs, () => this.end(expired()))
    return true
  }

  /** No new write may begin; those in progress may finish, and the term can still be renewed for them. */
  close(reason: Error): void {
    this.#closed ??= reason
  }

  /** Ends the term. The first reason is kept. */
  end(reason: Error): void {
    this.#expiry?.cancel()
    this.#expiry = undefined
    if (!this.#ended.signal.aborted) this.#ended.abort(reason)
  }

  permit(what: string, caller?: AbortSignal): WritePermit {
    if (!this.isLeader) throw new NotLeaderError(what, { cause: this.#ended.signal.reason ?? this.#closed })
    const cut = new AbortController()
    const ended = this.#ended.signal
    const onEnd = () => cut.abort(new NotLeaderError(what, { cause: ended.reason }))
    ended.addEventListener('abort', onEnd, { once: true })
    // Linked by hand: AbortSignal.any costs more, and every write comes through here.
    const onAbort = () => cut.abort(caller?.reason)
    if (caller?.aborted) onAbort()
    else caller?.addEventListener('abort', onAbort, { once: true })
    const leave = this.#writes.enter()
    return {
      signal: cut.signal,
      done: () => {
        ended.removeEventListener('abort', onEnd)
        caller?.removeEventListener('abort', onAbort)
        leave()
      },
    }
  }

  whenIdle(signal: AbortSignal): Promise<void> {
    return this.#writes.whenIdle(signal)
  }
}
