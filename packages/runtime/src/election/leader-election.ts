/** Leader election on a Lease: one of several replicas is active, and another takes over when it ends. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Clock, sleep, systemClock } from '@reeve/http'
import type { KubeClient, Lease } from '@reeve/kube'
import { ELECTION_DEFAULTS } from '../defaults.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import { RuntimeError } from '../runtime-error.ts'
import { ElectionConfigError, LeadershipLostError } from './election-error.ts'
import { type ElectionMetrics, electionMetrics } from './election-metrics.ts'
import { type Leadership, LeadershipTerm } from './leadership.ts'
import { LeaseLock, type LeaseMarks } from './lease-lock.ts'
import { type Instant, type TimeSource, timeSource } from './time-source.ts'

/** Options of {@link LeaderElector}. */
export interface LeaderElectionOptions {
  /** The Lease to compete for; created when it is missing. */
  readonly lease: { readonly namespace: string; readonly name: string }
  /** Must differ for every process. @default host name and a random suffix */
  readonly identity?: string
  /** How long a standby waits after the leader's last renewal. @default 15_000 */
  readonly leaseDurationMs?: number
  /** How long the leader continues without a successful renewal. Less than `leaseDurationMs`. @default 10_000 */
  readonly renewDeadlineMs?: number
  /** Interval of attempts. Well below `renewDeadlineMs`. @default 2_000 */
  readonly retryPeriodMs?: number
  /** Labels and annotations of the Lease. @default none */
  readonly marks?: LeaseMarks
  readonly clock?: Clock
  /** For jitter. @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
}

/** How a resignation went. */
export interface Resignation {
  /**
   * False when a write was still in progress or the server could not be reached: a standby then waits until the lease
   * expires.
   */
  readonly isReleased: boolean
  /** Writes that had not settled at the deadline. */
  readonly writesInFlight: number
}

/**
 * Competes for one term of leadership.
 *
 * *Guarantees*
 * - While {@link LeaderElector.leadership} allows writes, no other candidate that follows the same rules may write.
 *   The leader counts from before its last successful renewal was sent, a standby from when it saw that renewal, and
 *   the leader's deadline is shorter: the difference (5 s by default) is left for writes already sent to arrive.
 * - The lease is released only when every write made under it has settled.
 *
 * *Assumptions*: clocks run at about the same speed (their settings may differ); a request that was sent and aborted
 * reaches the server within `leaseDurationMs - renewDeadlineMs` or not at all; the Lease is not deleted in the very
 * seconds in which a brand-new candidate starts that has never seen it.
 *
 * @example
 * const elector = new LeaderElector(client, { lease: { namespace: 'shop', name: 'webapp-operator' } })
 * await elector.acquire(signal)
 * const writer = fenceWrites(client, elector.leadership)
 * // ... work until signal or elector.leadershipSignal aborts, then
 * await elector.resign(AbortSignal.timeout(5_000))
 */
export class LeaderElector {
  readonly identity: string
  readonly #leaseName: string
  readonly #retryPeriodMs: number
  readonly #clock: Clock
  readonly #time: TimeSource
  readonly #random: () => number
  readonly #logger: Logger
  readonly #metrics: ElectionMetrics
  readonly #lock: LeaseLock
  readonly #term: LeadershipTerm
  readonly #stop = new AbortController()
  #renewals: Promise<void> = Promise.resolve()
  #holder = ''

  constructor(client: KubeClient, options: LeaderElectionOptions) {
    const times = { ...ELECTION_DEFAULTS, ...definedTimes(options) }
    checkTimes(times)
    this.identity = options.identity ?? `${hostname()}_${randomUUID()}`
    if (this.identity === '') throw new ElectionConfigError('identity is empty: every candidate needs its own')
    this.#leaseName = `${options.lease.namespace}/${options.lease.name}`
    this.#retryPeriodMs = times.retryPeriodMs
    this.#clock = options.clock ?? systemClock
    this.#time = timeSource(this.#clock)
    this.#random = options.random ?? Math.random
    this.#logger = (options.logger ?? silentLogger).child({ lease: this.#leaseName, identity: this.identity })
    const { lease } = options
    const requestTimeoutMs = (times.renewDeadlineMs - times.retryPeriodMs) / 2
    const marks = options.marks && { marks: options.marks }
    const { leaseDurationMs } = times
    const lock = { lease, identity: this.identity, leaseDurationMs, requestTimeoutMs, ...marks }
    this.#lock = new LeaseLock(client, lock, this.#clock, this.#time)
    this.#term = new LeadershipTerm(times.renewDeadlineMs, this.#clock, this.#time)
    this.#metrics = electionMetrics(lease.name, options.metrics)
    this.#term.signal.addEventListener('abort', () => this.#metrics.setLeading(false), { once: true })
  }

  /** Pass it to `fenceWrites`. */
  get leadership(): Leadership {
    return this.#term
  }

  /** Aborts when leadership is lost (with {@link LeadershipLostError}) or resigned. */
  get leadershipSignal(): AbortSignal {
    return this.#term.signal
  }

  /**
   * Resolves as soon as this process leads; renewals continue in the background until {@link LeaderElector.resign}.
   * Failing requests are logged and retried forever. Rejects with the signal's reason when aborted. Once only.
   */
  async acquire(signal: AbortSignal): Promise<void> {
    this.#logger.info({}, 'waiting for leadership')
    while (!(await this.tryAcquire(signal))) {
      signal.throwIfAborted()
      await this.#pause(signal)
    }
  }

  /**
   * One attempt, for a caller that decides itself when to try: whether this process leads now. From then on as
   * {@link LeaderElector.acquire}. Rejects with the signal's reason when aborted.
   */
  async tryAcquire(signal: AbortSignal): Promise<boolean> {
    if (!(await this.#tryOnce(signal))) return false
    this.#metrics.setLeading(true)
    this.#logger.info({}, 'became leader')
    this.#renewals = this.#keepRenewing()
    return true
  }

  /** Takes note of the Lease as a list shows it, so that its duration counts from then on. */
  observe(lease: Lease): void {
    this.#lock.observe(lease)
  }

  /** Whether {@link LeaderElector.tryAcquire} may succeed, from what was observed. */
  get isFree(): boolean {
    return this.#lock.isFree
  }

  /**
   * Waits for writes in progress, keeping the lease meanwhile, and then releases it. New writes are rejected
   * immediately. If `deadline` aborts first, the lease is left to expire, so that work
   * still in progress cannot overlap with that of another leader.
   */
  async resign(deadline: AbortSignal): Promise<Resignation> {
    const resigned = new RuntimeError('LEADERSHIP_RESIGNED', `leadership of lease ${this.#leaseName} was released`)
    const mayRelease = this.#term.remainingMs > 0
    this.#term.close(resigned)
    const isIdle = await this.#term.whenIdle(deadline).then(
      () => true,
      () => false,
    )
    const { writesInFlight } = this.#term
    this.#stop.abort(resigned)
    await this.#renewals
    const isStillOurs = mayRelease && this.#term.remainingMs > 0
    this.#term.end(resigned)
    if (!isStillOurs || !isIdle || deadline.aborted) return { isReleased: false, writesInFlight }
    return { isReleased: await this.#release(deadline), writesInFlight }
  }

  async #release(deadline: AbortSignal): Promise<boolean> {
    try {
      const isReleased = await this.#lock.release(deadline)
      if (isReleased) this.#logger.info({}, 'released the lease')
      return isReleased
    } catch (error) {
      this.#logger.warn({ err: error }, 'could not release the lease, a standby takes over when it expires')
      return false
    }
  }

  async #keepRenewing(): Promise<void> {
    const stop = AbortSignal.any([this.#stop.signal, this.#term.signal])
    while (!stop.aborted) {
      try {
        await sleep(this.#retryPeriodMs, { clock: this.#clock, signal: stop })
        await this.#tryOnce(stop)
      } catch (error) {
        // Only an abort gets here: of the term, or of the renewals by a resignation.
        if (!stop.aborted) throw error
      }
    }
    const { reason } = this.#term.signal
    if (reason instanceof LeadershipLostError) this.#logger.error({ err: reason }, 'lost leadership')
  }

  /** One try to take or renew the lease. Rejects only when `signal` aborts. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const isRenewal = this.#term.remainingMs > 0
    try {
      const attempt = await this.#lock.tryHold(signal)
      this.#noteHolder(attempt.holder)
      if (attempt.isHeld) return this.#term.renew(attempt.since, () => this.#expired(attempt.since))
      if (isRenewal && attempt.holder !== '' && attempt.holder !== this.identity) {
        this.#term.end(new LeadershipLostError(this.#leaseName, `${attempt.holder} holds it now`))
      }
      return false
    } catch (error) {
      signal.throwIfAborted()
      this.#logger.warn({ err: error, isRenewal }, 'could not reach the lease')
      return false
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const delayMs = this.#retryPeriodMs * (1 + ELECTION_DEFAULTS.jitter * this.#random())
    return sleep(delayMs, { clock: this.#clock, signal })
  }

  #expired(since: Instant): Error {
    const seconds = (this.#time.atMostSince(since) / 1_000).toFixed(1)
    return new LeadershipLostError(this.#leaseName, `it could not be renewed for ${seconds} s`)
  }

  #noteHolder(holder: string): void {
    if (holder === this.#holder) return
    this.#holder = holder
    this.#logger.info({ holder }, 'lease has a new holder')
  }
}

interface ElectionTimes {
  readonly leaseDurationMs: number
  readonly renewDeadlineMs: number
  readonly retryPeriodMs: number
}

function definedTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: Partial<ElectionTimes>): object {
  return {
    ...(leaseDurationMs !== undefined && { leaseDurationMs }),
    ...(renewDeadlineMs !== undefined && { renewDeadlineMs }),
    ...(retryPeriodMs !== undefined && { retryPeriodMs }),
  }
}

function checkTimes({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTimes): void {
  if (!(retryPeriodMs > 0)) throw new ElectionConfigError(`retryPeriodMs is ${retryPeriodMs}: it must be above 0`)
  if (!(renewDeadlineMs > retryPeriodMs * (1 + ELECTION_DEFAULTS.jitter))) {
    throw new ElectionConfigError(
      `renewDeadlineMs ${renewDeadlineMs} leaves no time for a retry every ${retryPeriodMs} ms: raise it`,
    )
  }
  if (!(leaseDurationMs > renewDeadlineMs)) {
    throw new ElectionConfigError(
      `leaseDurationMs ${leaseDurationMs} is not above renewDeadlineMs ${renewDeadlineMs}: a standby would take over ` +
        'while the leader still writes',
    )
  }
}
