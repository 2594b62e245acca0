/** The time during which this replica holds one shard. */
import type { LeaderElector } from '../election/leader-election.ts'
import type { Leadership } from '../election/leadership.ts'
import { InFlight } from '../lifecycle/in-flight.ts'
import { ShardReleasedError } from './sharding-error.ts'

/** A shard that is held: what a controller needs to work on its objects. */
export interface ShardTerm {
  readonly shard: number
  /** Fences writes: see `fenceWrites`. */
  readonly leadership: Leadership
  /** Aborts when the shard was lost, or could not be handed over in time: reconciles in progress have to end. */
  readonly signal: AbortSignal
  /** A reconcile begins; returns the function to call at its end. The shard is not handed over before. */
  enter(): () => void
}

/** What a {@link HeldShard} works with. */
export interface HeldShardOptions {
  readonly shard: number
  readonly elector: LeaderElector
  /** Called when the lease could not be renewed, once. */
  readonly onLost: (held: HeldShard) => void
}

/**
 * *Guarantees*: no reconcile begins after it was lost or is being handed over; the lease is released only when the last
 * reconcile has ended and its writes have settled.
 */
export class HeldShard implements ShardTerm {
  readonly shard: number
  readonly leadership: Leadership
  readonly #elector: LeaderElector
  readonly #released = new AbortController()
  readonly #reconciles = new InFlight()
  #isClosed = false

  constructor({ shard, elector, onLost }: HeldShardOptions) {
    this.shard = shard
    this.#elector = elector
    this.leadership = elector.leadership
    const lost = elector.leadershipSignal
    const onEnd = () => {
      if (!this.#released.signal.aborted) onLost(this)
      this.#end(lost.reason)
    }
    if (lost.aborted) onEnd()
    else lost.addEventListener('abort', onEnd, { once: true })
  }

  /** Whether reconciles may begin. */
  get isActive(): boolean {
    return !this.#isClosed && !this.#released.signal.aborted && this.leadership.isLeader
  }

  get signal(): AbortSignal {
    return this.#released.signal
  }

  enter(): () => void {
    return this.#reconciles.enter()
  }

  /** Resolves when no reconcile is in progress. Rejects with the signal's reason if that aborts first. */
  whenIdle(signal: AbortSignal): Promise<void> {
    return this.#reconciles.whenIdle(signal)
  }

  /**
   * Lets reconciles in progress end and releases the lease, which is renewed meanwhile. Those that do not end in time are
   * aborted, and the lease is left to expire. Returns whether all have ended. Never rejects.
   */
  async handOver(deadline: AbortSignal): Promise<boolean> {
    this.#isClosed = true
    const isIdle = await this.whenIdle(deadline).then(
      () => true,
      () => false,
    )
    this.#end(deadline.reason)
    await this.#elector.resign(isIdle ? deadline : AbortSignal.abort(deadline.reason))
    return isIdle
  }

  #end(cause?: unknown): void {
    if (!this.#released.signal.aborted) this.#released.abort(new ShardReleasedError(this.shard, { cause }))
  }
}
