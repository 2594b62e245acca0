/** Divides the objects of an operator among its replicas: each holds some shards, with a Lease for each. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, Deadline, sleep, systemClock, untilAborted, withDeadline } from '@reeve/http'
import { isConflict, isNotFound, type KubeClient, Leases, type ObjectKey } from '@reeve/kube'
import { ELECTION_DEFAULTS, SHARDING_DEFAULTS } from '../defaults.ts'
import { LeaderElector } from '../election/leader-election.ts'
import { LeaseLock } from '../election/lease-lock.ts'
import { timeSource } from '../election/time-source.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import { overdue } from '../runtime-error.ts'
import { type FairShare, fairShare } from './fair-share.ts'
import { ObservedLeases } from './observed-leases.ts'
import {
  GROUP_LABEL,
  holderOf,
  layoutOf,
  marksOf,
  replicaLeaseName,
  type ShardLeases,
  shardLeaseName,
  sortLeases,
} from './shard-leases.ts'
import { shardOf } from './shard-of.ts'
import { HeldShard, type ShardTerm } from './shard-term.ts'
import { ShardingConfigError } from './sharding-error.ts'
import { type ShardingMetrics, shardingMetrics } from './sharding-metrics.ts'

/** Options of {@link ShardElector}. */
export interface ShardingOptions {
  /**
   * How many shards there are, for all replicas together: about four times as many as replicas. Replicas with another number
   * wait until all with the former one have ended, so that no object is in two shards.
   */
  readonly shards: number
  /** Names the Leases: `<name>-shard-0` and so on, and `<name>-replica-…`. */
  readonly lease: { readonly namespace: string; readonly name: string }
  /** Must differ for every process. @default host name and a random suffix */
  readonly identity?: string
  /** As in an election, for each shard. @default 15_000 */
  readonly leaseDurationMs?: number
  /** @default 10_000 */
  readonly renewDeadlineMs?: number
  /** How often leases are renewed, and shards are balanced. @default 2_000 */
  readonly retryPeriodMs?: number
  readonly clock?: Clock
  /** For jitter. @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
}

/** What is called when shards come and go. */
export interface ShardListener {
  /** Everything in these shards has to be reconciled: what happened to it before is unknown. */
  taken(shards: ReadonlySet<number>): void
  /** Another replica works on this shard, or will. */
  released(shard: number): void
}

/** Which objects this replica works on, as controllers see it. */
export interface ShardOwnership {
  shardOf(key: ObjectKey): number
  /** The term under which an object may be worked on now; undefined if this replica does not hold its shard. */
  termOf(key: ObjectKey): ShardTerm | undefined
  /** Returns the function that ends it. */
  subscribe(listener: ShardListener): () => void
}

/**
 * Competes for shards until it is stopped.
 *
 * *Guarantees*
 * - No object is worked on by two replicas at the same time: for each shard the guarantees of `LeaderElector` hold, and
 *   replicas that divide objects into another number of shards never hold any at the same time.
 * - No object is forgotten: a free shard is taken, and its objects are reconciled then.
 * - Shards are balanced: replicas that are alive hold as many as the others, or one more. Who has too many hands
 *   some over, after the reconciles in progress have ended.
 *
 * *Assumptions*: those of `LeaderElector`. A replica that shows that it is alive can also take shards.
 *
 * @example
 * const elector = new ShardElector(client, { shards: 8, lease: { namespace: 'shop', name: 'webapp-operator' } })
 * elector.start()
 * const term = elector.termOf({ namespace: 'shop', name: 'web' })
 */
export class ShardElector implements ShardOwnership {
  readonly identity: string
  readonly #client: KubeClient
  readonly #options: ShardingOptions
  readonly #times: Readonly<Record<'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs', number>>
  readonly #clock: Clock
  readonly #random: () => number
  readonly #logger: Logger
  readonly #metrics: ShardingMetrics
  readonly #observed: ObservedLeases
  /** Shows the other replicas that this one is alive. */
  readonly #presence: LeaseLock
  readonly #listeners = new Set<ShardListener>()
  readonly #held = new Map<number, HeldShard>()
  /** Shards that were held and whose work or lease has not ended yet. */
  readonly #leaving = new Map<number, Promise<void>>()
  readonly #candidates = new Map<number, LeaderElector>()
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #isWaitingForOthers = false

  /** *Errors*: {@link ShardingConfigError}, `ElectionConfigError`. */
  constructor(client: KubeClient, options: ShardingOptions) {
    const { shards, lease, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options
    if (!(Number.isInteger(shards) && shards >= 1 && shards <= SHARDING_DEFAULTS.maxShards)) {
      const most = SHARDING_DEFAULTS.maxShards
      throw new ShardingConfigError(`shards is ${shards}: use a whole number from 1 to ${most}`)
    }
    this.identity = options.identity ?? `${hostname()}_${randomUUID()}`
    this.#client = client
    this.#options = options
    this.#times = {
      leaseDurationMs: leaseDurationMs ?? ELECTION_DEFAULTS.leaseDurationMs,
      renewDeadlineMs: renewDeadlineMs ?? ELECTION_DEFAULTS.renewDeadlineMs,
      retryPeriodMs: retryPeriodMs ?? ELECTION_DEFAULTS.retryPeriodMs,
    }
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#logger = (options.logger ?? silentLogger).child({ sharding: lease.name, identity: this.identity })
    this.#metrics = shardingMetrics(lease.name, shards, options.metrics)
    const time = timeSource(this.#clock)
    this.#observed = new ObservedLeases(time)
    const own = { ...lease, name: replicaLeaseName(lease.name, this.identity) }
    const marks = marksOf(lease.name, shards)
    const { identity } = this
    const requestTimeoutMs = this.#requestTimeoutMs
    const lock = { lease: own, identity, marks, requestTimeoutMs, leaseDurationMs: this.#times.leaseDurationMs }
    this.#presence = new LeaseLock(client, lock, this.#clock, time)
    this.#candidate(0) // rejects times that contradict each other
  }

  /** The shards that this replica works on now, in order. */
  get held(): readonly number[] {
    return [...this.#held.values()]
      .filter(({ isActive }) => isActive)
      .map(({ shard }) => shard)
      .toSorted((a, b) => a - b)
  }

  shardOf(key: ObjectKey): number {
    return shardOf(key, this.#options.shards)
  }

  termOf(key: ObjectKey): ShardTerm | undefined {
    const held = this.#held.get(this.shardOf(key))
    return held?.isActive ? held : undefined
  }

  subscribe(listener: ShardListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Begins to compete. Once only. */
  start(): void {
    this.#running = this.#run(this.#stop.signal)
  }

  /**
   * Hands all shards over; resolves when this replica holds none. Shards whose work has not ended at the deadline
   * are left to expire. Never rejects.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stop.abort()
    if (this.#running === undefined) return
    await this.#running
    for (const held of this.#held.values()) void this.#release(held, deadline)
    // Those that were being handed over before have a later deadline of their own.
    await untilAborted(Promise.all(this.#leaving.values()), deadline).catch(() => undefined)
    await this.#disappear(deadline)
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#round(signal)
        const jitter = 1 + ELECTION_DEFAULTS.jitter * this.#random()
        await sleep(this.#times.retryPeriodMs * jitter, { clock: this.#clock, signal })
      } catch (error) {
        if (signal.aborted) return
        this.#logger.warn({ err: error }, 'could not balance shards, retrying')
        await sleep(this.#times.retryPeriodMs, { clock: this.#clock, signal }).catch(() => undefined) // the loop ends it
      }
    }
  }

  async #round(signal: AbortSignal): Promise<void> {
    await this.#presence.tryHold(signal)
    const leases = await this.#list(signal)
    const alive = leases.replicas.filter((lease) => holderOf(lease) !== '' && !this.#isSilent(lease))
    const alike = alive.filter((lease) => layoutOf(lease) === String(this.#options.shards))
    const share = fairShare(this.#options.shards, alike.map(holderOf), this.identity)
    this.#metrics.replicas(new Set([...alike.map(holderOf), this.identity]).size)
    this.#giveBack(share)
    await this.#claim(leases, share, signal)
    await this.#forgetReplicas(leases, signal)
  }

  async #list(signal: AbortSignal): Promise<ShardLeases> {
    const { namespace, name } = this.#options.lease
    const selection = { namespace, labelSelector: `${GROUP_LABEL}=${name}` }
    const { items } = await this.#bounded(signal, (bounded) =>
      this.#client.listAll(Leases, { ...selection, signal: bounded }),
    )
    this.#observed.observe(items)
    const leases = sortLeases(name, items)
    for (const [shard, lease] of leases.shards) {
      if (shard < this.#options.shards && !this.#held.has(shard)) this.#candidate(shard).observe(lease)
    }
    return leases
  }

  /** Hands over what is above the share, the last shards first. */
  #giveBack({ count }: FairShare): void {
    const surplus = [...this.#held.values()].toSorted((a, b) => a.shard - b.shard).slice(count)
    if (surplus.length === 0) return
    this.#logger.info({ shards: surplus.map(({ shard }) => shard), share: count }, 'handing shards over')
    for (const held of surplus) {
      const timeoutMs = SHARDING_DEFAULTS.handOverTimeoutMs
      const onTimeout = overdue(`handing shard ${held.shard} over`, timeoutMs)
      const deadline = new Deadline(timeoutMs, { clock: this.#clock, onTimeout })
      void this.#release(held, deadline.signal).finally(() => deadline[Symbol.dispose]())
    }
  }

  /** Takes free shards up to the share, and works on them once it is certain that keys are divided in one way only. */
  async #claim(leases: ShardLeases, share: FairShare, signal: AbortSignal): Promise<void> {
    const wanted = share.count - this.#held.size
    if (wanted <= 0 || this.#mustWait(leases)) return
    const claimed = new Map<number, LeaderElector>()
    try {
      for (const shard of this.#freeShards(share.first)) {
        if (claimed.size === wanted) break
        const candidate = this.#candidate(shard)
        if (!(await candidate.tryAcquire(signal))) continue
        this.#candidates.delete(shard)
        claimed.set(shard, candidate)
      }
      if (claimed.size === 0) return
      // Of two replicas with different numbers of shards that claim at the same time, at least one sees the other now.
      if (!this.#mustWait(await this.#list(signal))) {
        this.#begin(claimed)
        claimed.clear()
      }
    } finally {
      await this.#resign([...claimed.values()])
    }
  }

  /** Gives back what was claimed in vain. */
  async #resign(electors: readonly LeaderElector[]): Promise<void> {
    const timeoutMs = ELECTION_DEFAULTS.releaseTimeoutMs
    using deadline = new Deadline(timeoutMs, {
      clock: this.#clock,
      onTimeout: overdue('giving shards back', timeoutMs),
    })
    await Promise.all(electors.map((elector) => elector.resign(deadline.signal)))
  }

  #begin(claimed: ReadonlyMap<number, LeaderElector>): void {
    for (const [shard, elector] of claimed) {
      const held = new HeldShard({ shard, elector, onLost: (lost) => this.#lose(lost) })
      if (!held.signal.aborted) this.#held.set(shard, held)
    }
    const shards = new Set([...claimed.keys()].filter((shard) => this.#held.has(shard)))
    this.#metrics.held(this.#held.size)
    this.#logger.info({ shards: [...shards], held: this.#held.size }, 'took shards')
    for (const listener of this.#listeners) listener.taken(shards)
  }

  /** In an order in which replicas that begin together do not compete. */
  #freeShards(first: number): readonly number[] {
    const { shards } = this.#options
    return Array.from({ length: shards }, (_, at) => (first + at) % shards).filter(
      (shard) => !this.#held.has(shard) && !this.#leaving.has(shard) && this.#candidate(shard).isFree,
    )
  }

  /** Whether another replica holds a shard of another number of shards. */
  #mustWait({ shards }: ShardLeases): boolean {
    const isOther = [...shards.values()].some(
      (lease) =>
        holderOf(lease) !== '' &&
        holderOf(lease) !== this.identity &&
        layoutOf(lease) !== String(this.#options.shards) &&
        !this.#isSilent(lease),
    )
    if (isOther && !this.#isWaitingForOthers) {
      this.#logger.info({ shards: this.#options.shards }, 'waiting for replicas with another number of shards to end')
    }
    this.#isWaitingForOthers = isOther
    return isOther
  }

  /** A lease could not be renewed: its reconciles were aborted, and another replica will take it. */
  #lose(held: HeldShard): void {
    this.#metrics.lost()
    this.#logger.warn({ shard: held.shard }, 'lost a shard')
    void this.#forget(held, this.#outlive(held))
  }

  /**
   * Waits until nothing of a lost shard is in progress here: reconciles, which have their grace, and requests that were
   * aborted and may still reach the server. Only then may this replica claim the shard again.
   */
  async #outlive(held: HeldShard): Promise<void> {
    const { signal } = this.#stop
    try {
      await held.whenIdle(signal)
      await sleep(this.#times.leaseDurationMs - this.#times.renewDeadlineMs, { clock: this.#clock, signal })
    } catch (error) {
      if (!signal.aborted) throw error // otherwise nothing is claimed any more
    }
  }

  #release(held: HeldShard, deadline: AbortSignal): Promise<void> {
    return this.#forget(
      held,
      held.handOver(deadline).then((isEnded) => (isEnded ? undefined : this.#outlive(held))),
    )
  }

  #forget(held: HeldShard, ended: Promise<void>): Promise<void> {
    const { shard } = held
    this.#held.delete(shard)
    const leaving = ended.finally(() => this.#leaving.delete(shard))
    this.#leaving.set(shard, leaving)
    this.#metrics.held(this.#held.size)
    for (const listener of this.#listeners) listener.released(shard)
    return leaving
  }

  #candidate(shard: number): LeaderElector {
    const known = this.#candidates.get(shard)
    if (known !== undefined) return known
    const { shards, lease } = this.#options
    const made = new LeaderElector(this.#client, {
      ...this.#times,
      lease: { ...lease, name: shardLeaseName(lease.name, shard) },
      identity: this.identity,
      marks: marksOf(lease.name, shards),
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
    })
    this.#candidates.set(shard, made)
    return made
  }

  #isSilent(lease: Parameters<ObservedLeases['silentMs']>[0], durations = 1): boolean {
    const theirsMs = (lease.spec?.leaseDurationSeconds ?? 0) * 1_000
    return this.#observed.silentMs(lease) >= durations * Math.max(theirsMs, this.#times.leaseDurationMs)
  }

  /** Deletes the leases of replicas that ended long ago without deleting their own. */
  async #forgetReplicas({ replicas }: ShardLeases, signal: AbortSignal): Promise<void> {
    const { namespace } = this.#options.lease
    for (const lease of replicas.filter((one) => this.#isSilent(one, SHARDING_DEFAULTS.forgottenAfterDurations))) {
      const { name, uid, resourceVersion } = lease.metadata
      await this.#delete({ namespace, name }, { uid, resourceVersion }, signal)
    }
  }

  /** So that the others take over at once. */
  async #disappear(deadline: AbortSignal): Promise<void> {
    const { namespace, name } = this.#options.lease
    try {
      if (!deadline.aborted)
        await this.#delete({ namespace, name: replicaLeaseName(name, this.identity) }, {}, deadline)
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not delete the lease of this replica, it expires')
    }
  }

  async #delete(key: ObjectKey, preconditions: object, signal: AbortSignal): Promise<void> {
    try {
      await this.#bounded(signal, (bounded) => this.#client.delete(Leases, key, { preconditions, signal: bounded }))
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }

  #bounded<T>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const timeoutMs = this.#requestTimeoutMs
    const onTimeout = overdue('a request about the leases of shards', timeoutMs)
    return withDeadline({ clock: this.#clock, signal, timeoutMs, onTimeout }, send)
  }

  get #requestTimeoutMs(): number {
    return (this.#times.renewDeadlineMs - this.#times.retryPeriodMs) / 2
  }
}
