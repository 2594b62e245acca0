/** Starts and stops the parts of an operator in order, and lets the parts that write run in one process at a time. */
import { type Clock, Deadline, systemClock, untilAborted } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import { fenceWrites } from '../client/leader-fence.ts'
import { ELECTION_DEFAULTS, MANAGER_DEFAULTS } from '../defaults.ts'
import { LeadershipLostError } from '../election/election-error.ts'
import { type LeaderElectionOptions, LeaderElector } from '../election/leader-election.ts'
import { type Leadership, LeadershipTerm } from '../election/leadership.ts'
import { timeSource } from '../election/time-source.ts'
import { HealthChecks } from '../health/health-checks.ts'
import { HealthServer } from '../health/health-server.ts'
import { type Runnable, START_PHASES, type StartPhase } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { MetricsGuard } from '../metrics/metrics-guard.ts'
import type { MetricsRegistry } from '../metrics/registry.ts'
import { overdue, RuntimeError } from '../runtime-error.ts'
import { ShardElector, type ShardingOptions, type ShardOwnership } from '../sharding/shard-elector.ts'
import { ShutdownTimeoutError, StartTimeoutError } from './manager-error.ts'
import { RunnableGroup } from './runnable-group.ts'

/** Where a server listens. */
export interface ServerAddress {
  /** @default '0.0.0.0' */
  readonly host?: string
  /** 0 takes a free one. */
  readonly port: number
}

/** Where `/metrics` is served, and to whom. */
export interface MetricsAddress extends ServerAddress {
  /**
   * Serves TLS, and only to accounts that may get the non-resource URL `/metrics`; the API server decides. Needs a port of
   * its own and the right to create TokenReviews and SubjectAccessReviews. @default false
   */
  readonly isProtected?: boolean
}

/** Options of {@link createManager}. */
export interface ManagerOptions<Cache extends Runnable = Runnable> {
  /** Closed by its creator, after the manager has ended. */
  readonly client: KubeClient
  /** Shared by all controllers; started and filled before any of them. */
  readonly cache?: Cache
  readonly logger?: Logger
  readonly clock?: Clock
  /** Served under `/metrics` when an address for it is given. */
  readonly metrics?: MetricsRegistry
  /** Without it this process leads from the start. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'clock' | 'logger' | 'metrics'>
  /**
   * Instead of `leaderElection`: controllers run in every replica, each for the objects of its shards. Everything that needs
   * leadership must be sharded then. @default one process works on all objects
   */
  readonly sharding?: Omit<ShardingOptions, 'clock' | 'logger' | 'metrics'>
  /** Where `/healthz` and `/readyz` are served. @default nowhere */
  readonly healthAddress?: ServerAddress
  /** Where `/metrics` is served; may be the same as `healthAddress`. @default nowhere */
  readonly metricsAddress?: MetricsAddress
  /** How long each phase of the start may take. @default 120_000 */
  readonly startTimeoutMs?: number
}

type ManagerState = 'new' | StartPhase | 'running' | 'stopping' | 'stopped'

/**
 * Makes a manager.
 *
 * @example
 * const manager = createManager({ client, cache, leaderElection: { lease: { namespace, name: 'webapp-operator' } } })
 * manager.add(controller)
 * await manager.run(signal)
 */
export function createManager<Cache extends Runnable = Runnable>(options: ManagerOptions<Cache>): Manager<Cache> {
  return new Manager(options)
}

/**
 * Runs an operator once, from start to stop.
 *
 * *Start*: servers, webhooks, caches (filled), workers, then leadership, then what needs it. Each phase is ready
 * before the next one starts. *Stop*: in reverse. What needs leadership ends first, its last write settles, the lease
 * is released, then the rest stops, the health server last.
 *
 * *Readiness*: once everything but what needs leadership has started. With a part that caches need, such as a conversion
 * webhook, once that is served: it would never be called before, and the caches would never be filled.
 *
 * *Errors* of {@link Manager.run}: `RunnableFailedError` when a part fails, `LeadershipLostError`,
 * `StartTimeoutError`, `ShutdownTimeoutError`. All of them mean that the process should exit and be started again.
 */
export class Manager<Cache extends Runnable = Runnable> {
  /** Writes only while this process leads: the client for everything that needs leadership. */
  readonly client: KubeClient
  readonly cache: Cache | undefined
  /** For parts that check before longer work. */
  readonly leadership: Leadership
  /** The shards of this replica, for its controllers; undefined without sharding. */
  readonly shards: ShardOwnership | undefined
  /** Liveness: failing makes the kubelet restart the container. */
  readonly health: HealthChecks
  /** Readiness: failing takes the pod out of its services. A standby is ready. */
  readonly readiness: HealthChecks
  readonly healthServer: HealthServer | undefined
  /** The same as `healthServer` when both share an address. */
  readonly metricsServer: HealthServer | undefined
  readonly #runnables: Runnable[] = []
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #elector: LeaderElector | undefined
  readonly #soleTerm: LeadershipTerm | undefined
  readonly #shardElector: ShardElector | undefined
  readonly #startTimeoutMs: number
  readonly #stop = new AbortController()
  #state: ManagerState = 'new'
  #failure: Error | undefined

  constructor(options: ManagerOptions<Cache>) {
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#startTimeoutMs = options.startTimeoutMs ?? MANAGER_DEFAULTS.startTimeoutMs
    if (options.leaderElection !== undefined && options.sharding !== undefined) {
      throw new RuntimeError('MANAGER_CONFIG', 'leaderElection and sharding exclude each other: use one of them')
    }
    const { metrics } = options
    const shared = { clock: this.#clock, logger: this.#logger, ...(metrics && { metrics }) }
    this.#shardElector = options.sharding && new ShardElector(options.client, { ...options.sharding, ...shared })
    this.shards = this.#shardElector
    if (options.leaderElection !== undefined) {
      this.#elector = new LeaderElector(options.client, { ...options.leaderElection, ...shared })
      this.leadership = this.#elector.leadership
    } else {
      this.#soleTerm = new LeadershipTerm(Number.POSITIVE_INFINITY, this.#clock)
      this.leadership = this.#soleTerm
    }
    this.client = fenceWrites(options.client, this.leadership)
    this.cache = options.cache
    this.health = new HealthChecks({ clock: this.#clock })
    this.readiness = new HealthChecks({ clock: this.#clock })
    this.health.add('ping', () => undefined)
    this.readiness.add('manager', () => {
      if (!this.#isReady) throw new Error(`the operator is ${describeState(this.#state)}`)
    })
    const servers = makeServers(options, this.health, this.readiness)
    this.healthServer = servers.health
    this.metricsServer = servers.metrics
    for (const server of new Set([servers.health, servers.metrics])) if (server) this.#runnables.push(server)
    if (options.cache !== undefined) this.#runnables.push(options.cache)
  }

  /** Whether caches may need a part of this manager while they fill; see {@link Runnable}. */
  get isNeededByCaches(): boolean {
    return this.#runnables.some(({ isNeededByCaches }) => isNeededByCaches === true)
  }

  get #isReady(): boolean {
    if (this.#state === 'caches' || this.#state === 'workers') return this.isNeededByCaches
    return this.#state === 'running'
  }

  /** Adds a part before the start. */
  add(...runnables: readonly Runnable[]): this {
    if (this.#state !== 'new') {
      throw new RuntimeError('MANAGER_STARTED', 'the manager has been started: add everything before run()')
    }
    this.#runnables.push(...runnables)
    return this
  }

  /** Runs until `signal` aborts or something fails, and resolves when everything has stopped. Once only. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#state !== 'new') throw new RuntimeError('MANAGER_STARTED', 'a manager runs once: create another one')
    const onAbort = () => this.#stop.abort(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    const groups = this.#makeGroups()
    try {
      await this.#start(groups)
      await untilAborted(new Promise<never>(() => undefined), this.#stop.signal)
    } catch (error) {
      // The stop signal ends the waiting; anything else is a failure of the start itself.
      if (!this.#stop.signal.aborted) this.#fail(asError(error))
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
    const notStopped = await this.#shutDown(groups)
    this.#state = 'stopped'
    if (this.#failure !== undefined) throw this.#failure
    if (notStopped.length > 0) throw new ShutdownTimeoutError(notStopped, MANAGER_DEFAULTS.shutdownGraceMs)
  }

  async #start(groups: Groups): Promise<void> {
    for (const phase of START_PHASES) {
      this.#stop.signal.throwIfAborted()
      this.#state = phase
      groups[phase].start()
      await this.#becomeReady(groups[phase])
    }
    this.#state = 'running'
    this.#logger.info({}, 'started')
    await this.#lead()
    this.#stop.signal.throwIfAborted()
    groups.leader.start(this.leadership.signal)
    await this.#becomeReady(groups.leader)
  }

  async #becomeReady(group: RunnableGroup): Promise<void> {
    const timeoutMs = this.#startTimeoutMs
    const onTimeout = overdue('the start', timeoutMs)
    using timeout = new Deadline(timeoutMs, { clock: this.#clock, signal: this.#stop.signal, onTimeout })
    try {
      await group.whenReady(timeout.signal)
    } catch (error) {
      this.#stop.signal.throwIfAborted()
      throw timeout.hasPassed ? new StartTimeoutError(group.notReady, this.#startTimeoutMs) : error
    }
  }

  async #lead(): Promise<void> {
    if (this.#elector === undefined) {
      this.#soleTerm?.renew(timeSource(this.#clock).now(), () => new Error('a sole leader does not expire'))
      this.#shardElector?.start()
      return
    }
    await this.#elector.acquire(this.#stop.signal)
    const lost = this.#elector.leadershipSignal
    const onLost = () => {
      if (lost.reason instanceof LeadershipLostError) this.#fail(lost.reason)
    }
    if (lost.aborted) onLost()
    lost.addEventListener('abort', onLost, { once: true })
  }

  /** Returns the names of what did not stop within the grace. */
  async #shutDown(groups: Groups): Promise<readonly string[]> {
    this.#state = 'stopping'
    this.#logger.info({ graceMs: MANAGER_DEFAULTS.shutdownGraceMs }, 'stopping')
    const leadersMs = MANAGER_DEFAULTS.shutdownGraceMs - MANAGER_DEFAULTS.shutdownReserveMs
    const within = (ms: number, what: string) => new Deadline(ms, { clock: this.#clock, onTimeout: overdue(what, ms) })
    using leaders = within(leadersMs, 'stopping what needs leadership')
    using release = within(leadersMs + ELECTION_DEFAULTS.releaseTimeoutMs, 'giving the lease back')
    using whole = within(MANAGER_DEFAULTS.shutdownGraceMs, 'stopping')
    await groups.leader.stop(leaders.signal)
    await this.#resign(groups.leader.running.length === 0 ? release.signal : AbortSignal.abort(leaders.signal.reason))
    for (const phase of START_PHASES.toReversed()) await groups[phase].stop(whole.signal)
    const notStopped = [groups.leader, ...START_PHASES.map((phase) => groups[phase])].flatMap(({ running }) => running)
    if (notStopped.length > 0) this.#logger.error({ notStopped }, 'stopped before everything ended')
    else this.#logger.info({}, 'stopped')
    return notStopped
  }

  async #resign(deadline: AbortSignal): Promise<void> {
    const resigned = new RuntimeError('LEADERSHIP_RESIGNED', 'the operator is stopping')
    this.#soleTerm?.close(resigned)
    // Without an election there is no lease to wait for, but the last writes are still awaited.
    await this.#soleTerm?.whenIdle(deadline).catch(() => undefined)
    this.#soleTerm?.end(resigned)
    await this.#shardElector?.stop(deadline)
    const outcome = await this.#elector?.resign(deadline)
    if (outcome && outcome.writesInFlight > 0) {
      this.#logger.error({ writesInFlight: outcome.writesInFlight }, 'interrupted writes, leaving the lease to expire')
    }
  }

  /** The first failure counts: later ones are usually its consequences. */
  #fail(error: Error): void {
    if (this.#stop.signal.aborted) {
      this.#logger.warn({ err: error }, 'a runnable failed while stopping')
      return
    }
    this.#failure = error
    this.#logger.error({ err: error }, 'a runnable failed, stopping')
    this.#stop.abort(error)
  }

  #makeGroups(): Groups {
    const alone = this.#runnables.find(({ needsLeadership, isSharded }) => needsLeadership && isSharded !== true)
    if (this.shards !== undefined && alone !== undefined) {
      const remedy = 'use leaderElection, or give its controller the shards of the manager'
      throw new RuntimeError('MANAGER_CONFIG', `${alone.name} must run in one process at a time: ${remedy}`)
    }
    const group = (belongs: (runnable: Runnable) => boolean) =>
      new RunnableGroup(this.#runnables.filter(belongs), {
        logger: this.#logger,
        onFailure: (error) => this.#fail(error),
      })
    const inPhase = (phase: StartPhase) => group((runnable) => this.#phaseOf(runnable) === phase)
    return {
      servers: inPhase('servers'),
      webhooks: inPhase('webhooks'),
      caches: inPhase('caches'),
      workers: inPhase('workers'),
      leader: group(({ needsLeadership }) => needsLeadership),
    }
  }

  #phaseOf(runnable: Runnable): StartPhase | undefined {
    if (runnable === this.cache) return 'caches'
    return runnable.needsLeadership ? undefined : (runnable.phase ?? 'workers')
  }
}

type Groups = Readonly<Record<StartPhase | 'leader', RunnableGroup>>

function makeServers(options: ManagerOptions, health: HealthChecks, readiness: HealthChecks) {
  const { client, clock = systemClock, healthAddress, metricsAddress, metrics, logger } = options
  const isShared = healthAddress !== undefined && metricsAddress !== undefined && isSame(healthAddress, metricsAddress)
  const isProtected = metricsAddress?.isProtected === true
  if (isShared && isProtected) {
    throw new RuntimeError('MANAGER_CONFIG', 'protected metrics need a port other than that of the health checks')
  }
  const served = metrics !== undefined ? { metrics } : {}
  const log = logger !== undefined ? { logger } : {}
  const healthServer =
    healthAddress && new HealthServer({ ...healthAddress, health, readiness, ...(isShared && served), ...log })
  if (isShared) return { health: healthServer, metrics: healthServer }
  const guard = isProtected && { guard: new MetricsGuard({ client, clock, ...log }) }
  const metricsServer =
    metricsAddress && new HealthServer({ ...metricsAddress, ...served, ...guard, ...log }, 'metrics')
  return { health: healthServer, metrics: metricsServer }
}

function isSame(one: ServerAddress, other: ServerAddress): boolean {
  return one.port === other.port && one.port !== 0 && one.host === other.host
}

function describeState(state: ManagerState): string {
  if (state === 'new' || state === 'stopped') return state === 'new' ? 'not started' : 'stopped'
  return state === 'stopping' ? 'stopping' : `starting: ${state}`
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new RuntimeError('MANAGER_FAILED', String(error))
}
