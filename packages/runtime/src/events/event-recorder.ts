/** Records what an operator did, as events on the objects it did it to. */
import { type Clock, Deadline, sleep, systemClock, type Timer } from '@reeve/http'
import {
  apiVersionOf,
  type CoreEvent,
  Events,
  isAlreadyExists,
  isNotFound,
  isRetryable,
  type KubeClient,
  KubeError,
  type KubeObject,
} from '@reeve/kube'
import { EVENT_DEFAULTS } from '../defaults.ts'
import type { Leadership } from '../election/leadership.ts'
import type { Runnable } from '../lifecycle/runnable.ts'
import { type Logger, silentLogger } from '../logging/logger.ts'
import { LruMap } from '../lru-map.ts'
import type { Metrics } from '../metrics/registry.ts'
import { overdue, RuntimeError } from '../runtime-error.ts'
import { formatTime } from '../timestamp.ts'
import { EventBudget } from './event-budget.ts'
import { type EventMetrics, eventMetrics } from './event-metrics.ts'
import { type EventSeries, EventSeriesBook, identityOf, type Occurrence } from './event-series.ts'

/** What controllers use. */
export interface EventRecorder {
  /**
   * Records an event about `object`. Returns immediately, never throws, and may drop the event when there are
   * too many: events are for people, not for programs.
   */
  record(object: KubeObject, occurrence: Occurrence): void
}

/**
 * A recorder whose events name another source, such as one of several controllers of an operator.
 *
 * @example
 * const events = recorderFor('dynakube-controller', environment.events)
 */
export function recorderFor(source: string, events: EventRecorder): EventRecorder {
  return { record: (object, occurrence) => events.record(object, { source, ...occurrence }) }
}

/** Options of {@link ApiEventRecorder}. */
export interface EventRecorderOptions {
  /** Who reports, as `kubectl describe` shows it: the operator's name. */
  readonly component: string
  /** Which replica reports: the pod's name. @default the component */
  readonly instance?: string
  readonly clock?: Clock
  /** Makes names of events unique. @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
  /**
   * More important requests in progress. While there are any, at most one event is sent per `yieldMs`.
   * @default events wait for nothing
   */
  readonly busy?: Pick<Leadership, 'whenIdle'>
}

/**
 * Writes core `v1` Events with a count, the form that `kubectl describe` and `kubectl get events` show best in all
 * versions; the same events are visible through `events.k8s.io/v1`. Needs the verbs `create` and `patch` on `events`.
 *
 * *Guarantees*: memory and queue are bounded; repetitions raise the count of one event; each object has a budget of
 * requests (a burst of 25, then one per 5 minutes), and occurrences beyond it are still in the next count that is sent;
 * events are sent one at a time, after more important requests; after the stop signal what is queued is sent for up to
 * 3 s, several at a time.
 *
 * @example
 * const events = new ApiEventRecorder(client, { component: 'webapp-operator' })
 * manager.add(events)
 * events.record(app, { reason: 'ScaledUp', message: 'scaled from 1 to 3 replicas' })
 */
export class ApiEventRecorder implements EventRecorder, Runnable {
  readonly name = 'events'
  readonly needsLeadership = false
  /** Stopped after the controllers, so that their last events are still sent. */
  readonly phase = 'caches'
  readonly #client: KubeClient
  readonly #options: EventRecorderOptions
  readonly #clock: Clock
  readonly #random: () => number
  readonly #logger: Logger
  readonly #metrics: EventMetrics
  readonly #book = new EventSeriesBook()
  readonly #budgets = new LruMap<string, EventBudget>(EVENT_DEFAULTS.memoryCapacity)
  readonly #queue: EventSeries[] = []
  #wake: (() => void) | undefined

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#logger = (options.logger ?? silentLogger).child({ part: 'events' })
    this.#metrics = eventMetrics(options.metrics)
  }

  record(object: KubeObject, occurrence: Occurrence): void {
    try {
      const nowMs = this.#clock.now()
      const series = this.#book.add(object, occurrence, nowMs)
      if (series.isQueued) return
      if (this.#queue.length >= EVENT_DEFAULTS.queueCapacity) this.#metrics.dropped('queue_full')
      else if (!this.#hasBudget(identityOf(series.involved), nowMs)) this.#metrics.dropped('rate_limited')
      else this.#enqueue(series)
    } catch (error) {
      // An object without the expected shape must not fail the reconcile that reports on it.
      this.#logger.warn({ err: error }, 'could not record an event')
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const end = new AbortController()
    let timer: Timer | undefined
    const onStop = () => {
      const expire = () => end.abort(new RuntimeError('EVENTS_STOPPED', 'no time is left to send the last events'))
      timer = this.#clock.schedule(EVENT_DEFAULTS.flushTimeoutMs, expire)
      this.#wake?.()
    }
    if (signal.aborted) onStop()
    signal.addEventListener('abort', onStop, { once: true })
    while (!signal.aborted) {
      if (this.#queue.length === 0) await this.#somethingToDo()
      await this.#untilQuiet(signal)
      const next = this.#queue.shift()
      if (next !== undefined) await this.#send(next, end.signal)
    }
    await Promise.all(Array.from({ length: EVENT_DEFAULTS.flushConcurrency }, () => this.#flush(end.signal)))
    timer?.cancel()
    if (this.#queue.length === 0) return
    this.#logger.warn({ count: this.#queue.length }, 'dropped events that could not be sent before stopping')
    for (const series of this.#queue.splice(0)) this.#drop(series, 'stopped')
  }

  async #flush(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      const next = this.#queue.shift()
      if (next === undefined) return
      await this.#send(next, end)
    }
  }

  /** Lets more important requests go first, but not for ever. */
  async #untilQuiet(signal: AbortSignal): Promise<void> {
    const { busy } = this.#options
    if (busy === undefined) return
    const { yieldMs } = EVENT_DEFAULTS
    const onTimeout = overdue('waiting for other requests', yieldMs)
    using patience = new Deadline(yieldMs, { clock: this.#clock, signal, onTimeout })
    // Out of patience, or stopping: either way it is time to send.
    await busy.whenIdle(patience.signal).catch(() => undefined)
  }

  #enqueue(series: EventSeries): void {
    series.isQueued = true
    this.#queue.push(series)
    this.#wake?.()
  }

  #somethingToDo(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  #hasBudget(object: string, nowMs: number): boolean {
    const { burst, refillIntervalMs } = EVENT_DEFAULTS
    const make = () => new EventBudget(nowMs, { burst, refillIntervalMs })
    return this.#budgets.getOrMake(object, make).tryTake(nowMs)
  }

  /** Retries a few times: after that the count is sent with the next occurrence. */
  async #send(series: EventSeries, end: AbortSignal): Promise<void> {
    series.isQueued = false
    for (let attempt = 1; series.count > series.sentCount; attempt++) {
      try {
        await this.#sendOnce(series, end)
        this.#metrics.sent()
        return
      } catch (error) {
        if (end.aborted) return this.#drop(series, 'stopped')
        // Anything but an error of the client is our own timeout, and also retried.
        const mayRetry = isRetryable(error) || !(error instanceof KubeError)
        if (!mayRetry || attempt >= EVENT_DEFAULTS.attempts) {
          this.#logger.debug(
            { err: error, reason: series.reason, kind: series.involved.kind },
            'could not send an event',
          )
          return this.#drop(series, mayRetry ? 'unreachable' : 'refused')
        }
        const delayMs = EVENT_DEFAULTS.retryDelayMs * 2 ** (attempt - 1)
        // Only the end of the flush cuts the pause short, and the next try notices it.
        await sleep(delayMs, { clock: this.#clock, signal: end }).catch(() => undefined)
      }
    }
  }

  async #sendOnce(series: EventSeries, end: AbortSignal): Promise<void> {
    const timeoutMs = EVENT_DEFAULTS.requestTimeoutMs
    const onTimeout = overdue('sending an event', timeoutMs)
    using timeout = new Deadline(timeoutMs, { clock: this.#clock, signal: end, onTimeout })
    const options = { signal: timeout.signal }
    const { count } = series
    if (!series.isCreated) {
      try {
        series.eventName ??= this.#uniqueName(series.involved.name ?? 'unnamed')
        await this.#client.create(Events, this.#eventOf(series, series.eventName), options)
        series.isCreated = true
        series.sentCount = count
        return
      } catch (error) {
        // The name exists only if a response was lost: increase the count.
        if (!isAlreadyExists(error)) throw error
        series.isCreated = true
      }
    }
    try {
      const patch = { count, lastTimestamp: formatTime(series.lastMs), message: series.message }
      const key = { namespace: namespaceOf(series), name: series.eventName ?? '' }
      await this.#client.patch(Events, key, { type: 'merge', patch }, options)
      series.sentCount = count
    } catch (error) {
      if (!isNotFound(error)) throw error
      // The server deletes events after an hour: the series continues under a new name.
      series.isCreated = false
      series.eventName = undefined
      await this.#sendOnce(series, end)
    }
  }

  #eventOf(series: EventSeries, name: string): CoreEvent {
    const { involved, related, type, reason, action, message, count } = series
    const { instance = this.#options.component } = this.#options
    const component = series.source ?? this.#options.component
    return {
      apiVersion: apiVersionOf(Events),
      kind: Events.kind,
      metadata: { namespace: namespaceOf(series), name },
      involvedObject: involved,
      ...(related && { related }),
      type,
      reason,
      action,
      message,
      count,
      firstTimestamp: formatTime(series.firstMs),
      lastTimestamp: formatTime(series.lastMs),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    }
  }

  #uniqueName(object: string): string {
    const chance = Math.floor(this.#random() * 0x1_0000_0000)
    const suffix = `${this.#clock.now().toString(16)}${chance.toString(16).padStart(8, '0')}`
    return `${object.slice(0, 253 - suffix.length - 1).replace(/[-.]+$/, '')}.${suffix}`
  }

  #drop(series: EventSeries, reason: Parameters<EventMetrics['dropped']>[0]): void {
    series.isQueued = false
    this.#metrics.dropped(reason)
  }
}

/** Events about cluster-scoped objects live in the default namespace, where `kubectl describe` expects them. */
function namespaceOf(series: EventSeries): string {
  return series.involved.namespace ?? 'default'
}
