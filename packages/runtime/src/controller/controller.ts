/** Watches resources and calls a reconcile function for the objects that changed. */
import { channel } from 'node:diagnostics_channel'
import { type Clock, Deadline, systemClock, untilAborted } from '@reeve/http'
import {
  formatKey,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  objectKey,
  parseKey,
  type Resource,
} from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { Informer } from '../cache/informer.ts'
import { describeFailure } from '../cache/informer-health.ts'
import type { Interceptor } from '../client/intercept.ts'
import { leaderFence } from '../client/leader-fence.ts'
import { ownWrites } from '../client/own-writes.ts'
import { compareStates, type WriteListener } from '../client/reconcile-client.ts'
import { type EventRecorder, recorderFor } from '../events/event-recorder.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { describeReason } from '../queue/reason.ts'
import type { AddOptions, WorkItem } from '../queue/work-item.ts'
import { WorkQueue } from '../queue/work-queue.ts'
import { overdue } from '../runtime-error.ts'
import type { ShardOwnership } from '../sharding/shard-elector.ts'
import type { ShardTerm } from '../sharding/shard-term.ts'
import { CacheSyncTimeoutError, FlappingError } from './controller-error.ts'
import { type ControllerMetrics, controllerMetrics } from './controller-metrics.ts'
import {
  CONTROLLER_DEFAULTS,
  type ControllerEnvironment,
  type ControllerOptions,
  checkOptions,
  RESYNC_JITTER,
  SYNC_TIMEOUT_MS,
} from './controller-options.ts'
import { Echoes } from './echoes.ts'
import { FailureEvents } from './failure-events.ts'
import { ChangedObjects, FlappingKeys } from './flapping.ts'
import { isPaused, orPauseChanged, PausedObjects } from './pause.ts'
import type { ObjectChange } from './predicates.ts'
import { type Ending, endingOf, FAILURES_TO_ESCALATE, logEnding, PAUSED } from './reconcile-ending.ts'
import { RECONCILE_CHANNEL, type ReconcileRecord, RecordLog } from './reconcile-record.ts'
import { ReconcileRun } from './reconcile-run.ts'
import { ControllerWatches, type RuntimeWatches } from './runtime-watches.ts'
import { asSource, toController, toItself } from './sources.ts'
import { WatchedSources } from './watched-sources.ts'

/** The options, with the defaults of those that are used later. */
type Settled<T extends KubeObject> = ControllerOptions<T> & {
  readonly concurrency: number
  readonly timeoutMs: number
  readonly resyncMs: number
}

const noEvents: EventRecorder = { record: () => undefined }

/** How many records {@link Controller.records} keeps. */
const MAX_RECORDS = 200

const ended = channel(RECONCILE_CHANNEL)

/**
 * A reconcile function and what it runs for; a manager runs it.
 *
 * *Guarantees*: an object is reconciled after every change that its sources pass, by one worker at a time;
 * failures are retried with backoff; nothing that a reconcile throws, and no time it takes, stops the controller; the
 * informers exist from the construction on, so that a standby keeps them warm. After the stop signal reconciles under
 * way get their grace, nothing new begins, and `run` resolves when the last one ended or was abandoned.
 *
 * @example
 * const webapps = new Controller(
 *   {
 *     name: 'webapp',
 *     for: { resource: WebApps, predicate: generationChanged },
 *     owns: [Deployments, Services],
 *     watches: [watch({ resource: ConfigMaps, namespace: 'shop', map: (config) => usersOf(config) })],
 *     reconcile: async ({ object, client, signal }) => {
 *       if (object === undefined) return
 *       await client.apply(Deployments, renderDeployment(object), { signal })
 *       return { requeueAfterMs: 30_000 }
 *     },
 *   },
 *   { cache, client: manager.client },
 * )
 * manager.add(webapps)
 */
export class Controller<T extends KubeObject> implements Runnable {
  readonly name: string
  readonly needsLeadership: boolean
  readonly isSharded: boolean
  readonly #shards: ShardOwnership | undefined
  readonly #options: Settled<T>
  readonly #clock: Clock
  readonly #random: () => number
  readonly #logger: Logger
  readonly #events: EventRecorder
  readonly #client: KubeClient
  readonly #reader: CacheReader
  readonly #metrics: ControllerMetrics
  readonly #queue: WorkQueue<ObjectKey>
  readonly #ownWrites: Interceptor
  readonly #echoes = new Echoes()
  readonly #flappingKeys: FlappingKeys<T>
  readonly #records: RecordLog
  readonly #failureEvents: FailureEvents | undefined
  readonly #primary: Resource<T>
  readonly #primaryInformers: readonly Informer<T>[]
  /** Those that it waits for at the start. */
  readonly #declaredInformers: readonly Informer<KubeObject>[]
  readonly #pausedObjects: PausedObjects<T>
  readonly #sources: WatchedSources
  readonly #watches: ControllerWatches
  readonly #started = Promise.withResolvers<void>()
  readonly #instance: string
  readonly #changesOf: WriteListener['changesOf']
  #runs = 0

  constructor(options: ControllerOptions<T>, environment: ControllerEnvironment) {
    this.#options = {
      ...options,
      concurrency: options.concurrency ?? CONTROLLER_DEFAULTS.concurrency,
      timeoutMs: options.timeoutMs ?? CONTROLLER_DEFAULTS.timeoutMs,
      resyncMs: options.resyncMs ?? CONTROLLER_DEFAULTS.resyncMs,
    }
    checkOptions(this.#options)
    const { name, concurrency, backoff, retryRate, engine, eventSource } = this.#options
    const { cache, metrics, events = noEvents } = environment
    this.name = name
    this.needsLeadership = options.needsLeadership ?? true
    this.#shards = this.needsLeadership ? environment.shards : undefined
    this.isSharded = this.#shards !== undefined
    this.#clock = environment.clock ?? systemClock
    this.#random = environment.random ?? Math.random
    this.#logger = (environment.logger ?? silentLogger).child({ controller: name })
    this.#events = eventSource === undefined ? events : recorderFor(eventSource, events)
    this.#client = environment.client
    this.#ownWrites = ownWrites(cache)
    this.#metrics = controllerMetrics(name, { concurrency, ...(metrics && { metrics }) })
    this.#records = new RecordLog(MAX_RECORDS)
    this.#failureEvents = (options.failureEvents ?? true) ? new FailureEvents(this.#events) : undefined
    this.#queue = new WorkQueue({
      name,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      identify: formatKey,
      ...(backoff && { backoff }),
      ...(retryRate && { retryRate }),
      ...(metrics && { metrics }),
    })
    this.#instance = Math.floor(this.#random() * 36 ** 4).toString(36)
    const watched = new WatchedSources({
      cache,
      namespaces: options.namespaces,
      controller: name,
      enqueue: (key, options, change) => this.#add(key, { ...options, isEcho: () => this.#isEcho(key, change) }),
    })
    this.#sources = watched
    this.#watches = new ControllerWatches(watched, this.#logger)
    this.#reader = watched.reader
    this.#changesOf =
      environment.describeWrite &&
      compareStates(
        environment.describeWrite,
        (of) => watched.informersOf(of),
        (err) => this.#logger.error({ err }, 'describeWrite failed'),
      )

    const primary = asSource(options.for)
    engine?.requireSources(options)
    this.#primary = primary.resource
    const isWhole = !(primary.metadataOnly ?? false)
    this.#pausedObjects = new PausedObjects(primary.resource, isWhole, (count) => this.#metrics.paused(count))
    this.#flappingKeys = new FlappingKeys(primary.resource, isWhole, engine?.fieldManager)
    watched.watch({
      ...primary,
      map: toItself,
      ...(primary.predicate && { predicate: orPauseChanged(primary.predicate) }),
    })
    this.#primaryInformers = watched.informersOf(primary.resource)
    for (const owned of options.owns ?? []) watched.watch({ ...asSource(owned), map: toController(primary.resource) })
    for (const source of options.watches ?? []) watched.watch(source)
    for (const read of options.reads ?? []) watched.read(asSource(read))
    this.#declaredInformers = watched.informers
  }

  /** Watches that come and go while it runs. Also part of each {@link ReconcileRequest}. */
  get watches(): RuntimeWatches {
    return this.#watches
  }

  /** The last reconciles, oldest first. */
  get records(): readonly ReconcileRecord[] {
    return this.#records.list()
  }

  /** How many objects wait for a worker. */
  get depth(): number {
    return this.#queue.depth
  }

  /** How many objects are being reconciled. */
  get inProgress(): number {
    return this.#queue.running
  }

  /**
   * Requests a reconcile from outside, for example because a message arrived. Kept until the controller runs; ignored after
   * it was stopped, and for objects of shards that this replica does not hold.
   */
  enqueue(key: ObjectKey): void {
    this.#add(key, { reason: { event: 'external' } })
  }

  /** Resolves when the caches are synced and every later change is observed. */
  whenReady(signal: AbortSignal): Promise<void> {
    return untilAborted(this.#started.promise, signal)
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#waitForCaches(signal)
    this.#sources.start()
    this.#started.resolve()
    const stopResync = this.#scheduleResync()
    const unsubscribe = this.#followShards()
    const stop = () => {
      unsubscribe()
      stopResync()
      this.#sources.stop()
      this.#queue.stop()
    }
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    this.#logger.info(
      { concurrency: this.#options.concurrency, objects: this.#reader.list(this.#primary).length },
      'controller started',
    )
    await Promise.all(Array.from({ length: this.#options.concurrency }, () => this.#work(signal)))
    await this.#watches.stopAll()
    this.#logger.info({}, 'controller stopped')
  }

  /**
   * Objects of shards that another replica holds are ignored. Everything in a shard is gone through when it is taken, as
   * everything is at the start.
   */
  #followShards(): () => void {
    const shards = this.#shards
    if (shards === undefined) return () => undefined
    const forget = (isGone: (shard: number) => boolean) => {
      const isGoneKey = (key: string) => isGone(shards.shardOf(parseKey(key)))
      this.#pausedObjects.forget(isGoneKey)
      this.#options.engine?.forget(isGoneKey)
    }
    return shards.subscribe({
      taken: (taken) => {
        forget((shard) => taken.has(shard))
        this.#sources.replay((key) => taken.has(shards.shardOf(key)))
      },
      released: (released) => forget((shard) => shard === released),
    })
  }

  #isOurs(key: ObjectKey): boolean {
    return this.#shards === undefined || this.#shards.termOf(key) !== undefined
  }

  /** What the key itself wrote is not news for it; nor is anything that its writes may have caused while it flaps. */
  #isEcho(key: ObjectKey, change: ObjectChange<KubeObject>): boolean {
    if (this.#echoes.has(key, change)) return true
    return this.#flappingKeys.holds(key, () => this.#reader.get(this.#primary, key))
  }

  /** Mappers and callers may return any key; those outside the watched namespaces are ignored. */
  #add(key: ObjectKey, options: AddOptions): void {
    if (!this.#isOurs(key)) return
    const isWatched = this.#primaryInformers.some(
      ({ selection: { namespace } }) => namespace === undefined || namespace === key.namespace,
    )
    if (isWatched) this.#queue.add(key, options)
    else this.#logger.debug({ ...key }, 'ignoring an object outside the watched namespaces')
  }

  async #waitForCaches(signal: AbortSignal): Promise<void> {
    const informers = this.#declaredInformers
    const onTimeout = overdue(`syncing the caches of ${this.name}`, SYNC_TIMEOUT_MS)
    using deadline = new Deadline(SYNC_TIMEOUT_MS, { clock: this.#clock, signal, onTimeout })
    try {
      await Promise.all(informers.map((informer) => informer.waitForSync(deadline.signal)))
    } catch (error) {
      if (!deadline.hasPassed) throw error
      const missing = informers.map((informer) => informer.health()).filter(({ isSynced }) => !isSynced)
      throw new CacheSyncTimeoutError(this.name, SYNC_TIMEOUT_MS, missing.map(describeFailure))
    }
  }

  #scheduleResync(): () => void {
    const { resyncMs } = this.#options
    if (!Number.isFinite(resyncMs)) return () => undefined
    const next = () => this.#clock.schedule(resyncMs * (1 + RESYNC_JITTER * (2 * this.#random() - 1)), resync)
    const resync = () => {
      for (const object of this.#reader.list(this.#primary)) {
        const reason = { event: 'resync' } as const
        if (!this.#isOurs(objectKey(object))) continue
        this.#queue.add(objectKey(object), { reason, priority: 'low', respectBackoff: true })
      }
      timer = next()
    }
    let timer = next()
    return () => timer.cancel()
  }

  async #work(stopping: AbortSignal): Promise<void> {
    for (let item = await this.#queue.take(); item !== undefined; item = await this.#queue.take()) {
      const term = this.#shards?.termOf(item.key)
      const leave = term?.enter()
      try {
        if (this.isSharded && term === undefined) this.#queue.forget(item.key)
        else await this.#reconcile(item, stopping, term)
      } finally {
        leave?.()
        this.#queue.done(item)
      }
    }
  }

  /** Never rejects. */
  async #reconcile(item: WorkItem<ObjectKey>, stopping: AbortSignal, term: ShardTerm | undefined): Promise<void> {
    const { key } = item
    const { timeoutMs, reconcile } = this.#options
    const startedMs = this.#clock.now()
    const reconcileId = `${this.#instance}-${(++this.#runs).toString(36)}`
    const logger = this.#logger.child({ ...key, reconcileId })
    const changed = new ChangedObjects((of) => this.#sources.informersOf(of))
    const run = new ReconcileRun({
      controller: this.name,
      key,
      client: this.#client,
      interceptors: term === undefined ? [this.#ownWrites] : [leaderFence(term.leadership), this.#ownWrites],
      clock: this.#clock,
      timeoutMs,
      stopping: term === undefined ? [stopping] : [stopping, term.signal],
      changesOf: this.#changesOf,
      follow: (call) => {
        const written = changed.begin(call)
        return (response) => {
          this.#echoes.record(key, call, response)
          written(response)
        }
      },
    })
    logger.debug({ reasons: item.reasons.map(describeReason), attempt: item.failures + 1 }, 'reconciling')
    this.#metrics.started()
    let ending: Ending
    try {
      const request = {
        key,
        reasons: item.reasons,
        attempt: item.failures + 1,
        reconcileId,
        client: run.client,
        cache: this.#reader,
        logger,
        clock: this.#clock,
        signal: run.signal,
        events: this.#events,
        watches: this.#watches,
        stage: <R>(name: string, part: () => R) => run.stage(name, part),
      }
      ending = await run.execute(async () => {
        const object = this.#reader.get(this.#primary, key)
        if (object !== undefined && isPaused(object)) {
          await this.#pausedObjects.pause(key, object, request)
          return PAUSED
        }
        await this.#pausedObjects.resume(key, object, request)
        const before = this.#reader.get(this.#primary, key)
        const result = await reconcile({ ...request, object: before })
        const after = () => this.#reader.get(this.#primary, key)
        const checking = this.#flappingKeys.check({ key, cause: item, changed, before, after }, request)
        if (checking !== undefined) await checking
        return endingOf(run.signal, result ?? {})
      })
    } catch (error) {
      ending = endingOf(run.signal, undefined, error)
      if (!(error instanceof FlappingError)) this.#flappingKeys.forget(key)
    }
    const endedMs = this.#clock.now()
    const durationMs = endedMs - startedMs
    this.#metrics.ended(ending.outcome, durationMs / 1_000)
    if (run.isAbandoned) this.#metrics.abandoned()
    if (ending.outcome === 'conflict' && item.failures + 1 >= FAILURES_TO_ESCALATE) this.#metrics.conflictPersisted()
    this.#failureEvents?.note(key, this.#reader.get(this.#primary, key), ending, item.failures + 1)
    const nextDelayMs = this.#followUp(key, ending)
    this.#report(
      logger,
      {
        controller: this.name,
        key,
        reconcileId,
        reasons: item.reasons,
        omittedReasons: item.omittedReasons,
        attempt: item.failures + 1,
        startedMs,
        waitedMs: item.waitedMs,
        durationMs,
        stages: run.stages,
        writes: run.writes,
        omittedWrites: run.omittedWrites,
        outcome: ending.outcome,
        ...(ending.error !== undefined && { error: ending.error.message, ...codeOf(ending.error) }),
        ...(nextDelayMs !== undefined && { nextRunMs: endedMs + nextDelayMs }),
      },
      ending.error,
    )
  }

  /** Schedules the next reconcile, and returns the delay. */
  #followUp(key: ObjectKey, ending: Ending): number | undefined {
    switch (ending.outcome) {
      case 'success':
      case 'paused':
        this.#queue.forget(key)
        return undefined
      case 'terminal':
        this.#queue.giveUp(key)
        return undefined
      case 'requeue_after': {
        const { requeueAfterMs: delayMs, isBackoff } = ending
        this.#queue.forget(key)
        if (isBackoff) this.#queue.postpone(key, { reason: { event: 'requeue' }, delayMs })
        else this.#queue.add(key, { reason: { event: 'requeue' }, priority: 'normal', delayMs })
        return delayMs
      }
      case 'aborted':
        return undefined
      default:
        return this.#queue.retry(key, { minDelayMs: ending.retryAfterMs })
    }
  }

  #report(logger: Logger, record: ReconcileRecord, error: Error | undefined): void {
    this.#records.add(record)
    logEnding(logger, record, error)
    ended.publish(record)
    try {
      this.#options.onReconcile?.(record)
    } catch (hookError) {
      logger.error({ err: hookError }, 'onReconcile failed')
    }
  }
}

function codeOf(error: Error): { readonly errorCode?: string } {
  return 'code' in error && typeof error.code === 'string' ? { errorCode: error.code } : {}
}
