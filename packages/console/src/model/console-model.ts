/** Everything that a console knows: the operators of a process, their journal, samples and requests. */
import { randomBytes } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { type Clock, systemClock } from '@reeve/http'
import type { OperatorObserver } from '@reeve/runtime/operator'
import { CONSOLE_LIMITS } from '../limits.ts'
import type { HealthInfo, HealthSample, Overview, ResourceRow, StreamMessage } from '../wire.ts'
import { Journal } from './journal.ts'
import { OperatorModel } from './operator-model.ts'
import { RequestCounts } from './request-counts.ts'
import { type Redact, redactorFor } from './secrets.ts'

/** Options of {@link ConsoleModel}. */
export interface ConsoleModelOptions {
  readonly clock?: Clock
  /** Additional secrets that must not be shown, such as the tokens of a vendor; global expressions. @default none */
  readonly secretPatterns?: readonly RegExp[]
}

const NANOSECONDS_PER_MS = 1_000_000

/**
 * The read model of a console. One serves all operators of a process.
 *
 * @example
 * const model = new ConsoleModel()
 * const { manager } = webAppOperator.create({ client, observer: model.observer() })
 */
export class ConsoleModel {
  readonly journal = new Journal()
  readonly requests = new RequestCounts()
  /** Whether a plan is being made. */
  isPlanning = false
  readonly #clock: Clock
  readonly #secretPatterns: readonly RegExp[]
  readonly #operators: OperatorModel[] = []
  readonly #listeners = new Set<(message: StreamMessage) => void>()
  readonly #samples: HealthSample[] = []
  readonly #instance = randomBytes(6).toString('hex')
  readonly #startedMs: number
  #sequence = 0

  constructor({ clock = systemClock, secretPatterns = [] }: ConsoleModelOptions = {}) {
    this.#clock = clock
    this.#secretPatterns = secretPatterns
    this.#startedMs = clock.now()
  }

  /** Removes what looks like a secret from texts. */
  get redact(): Redact {
    return redactorFor(this.#secretPatterns)
  }

  /** A new observer, for one operator. */
  observer(): OperatorObserver {
    const model = new OperatorModel({
      journal: this.journal,
      secretPatterns: this.#secretPatterns,
      nextSequence: () => ++this.#sequence,
      publish: (message) => this.#publish(message),
    })
    this.#operators.push(model)
    return model
  }

  /** The operators that were created so far. */
  get operators(): readonly OperatorModel[] {
    return this.#operators.filter(({ observed }) => observed !== undefined)
  }

  operator(name: string): OperatorModel | undefined {
    return this.operators.find(({ observed }) => observed?.name === name)
  }

  overview(): Overview {
    return {
      instance: this.#instance,
      startedMs: this.#startedMs,
      nowMs: this.#clock.now(),
      operators: this.operators.flatMap((operator) => operator.info() ?? []),
    }
  }

  rows(): readonly ResourceRow[] {
    return this.operators.flatMap((operator) => operator.rows())
  }

  async health(): Promise<HealthInfo> {
    const observed = this.operators.flatMap((operator) => operator.observed ?? [])
    const checks = observed.map(async ({ name: operator, manager }) => {
      const results = [...(await manager.health.run()), ...(await manager.readiness.run())]
      return results.map((result) => ({ operator, ...result }))
    })
    return {
      samples: this.#samples,
      informers: observed.flatMap(({ name: operator, cache }) =>
        cache.health().informers.map((informer) => ({
          operator,
          description: informer.description,
          state: informer.state,
          isSynced: informer.isSynced,
          isHealthy: informer.isHealthy,
          objects: informer.objects,
          ...(informer.lastContactMs !== undefined && { lastContactMs: informer.lastContactMs }),
          lists: informer.lists,
          watches: informer.watches,
          failures: informer.failures,
          ...(informer.lastFailure && { lastFailure: informer.lastFailure }),
        })),
      ),
      requests: this.requests.list(),
      leaders: observed.map(({ name: operator, manager: { leadership } }) => ({
        operator,
        isLeader: leadership.isLeader,
        ...(Number.isFinite(leadership.remainingMs) && { remainingMs: leadership.remainingMs }),
      })),
      checks: (await Promise.all(checks)).flat(),
    }
  }

  /** Calls `listener` with everything that happens, until the returned function is called. */
  listen(listener: (message: StreamMessage) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Samples the process until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const delay = monitorEventLoopDelay({ resolution: 20 })
    delay.enable()
    const timer = setInterval(() => {
      this.#sample(delay.percentile(99) / NANOSECONDS_PER_MS)
      delay.reset()
    }, CONSOLE_LIMITS.sampleMs)
    this.#sample(0)
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    clearInterval(timer)
    delay.disable()
  }

  #sample(loopDelayMs: number): void {
    const { rss, heapUsed } = process.memoryUsage()
    const sample: HealthSample = {
      atMs: this.#clock.now(),
      controllers: this.operators.flatMap((operator) => operator.sample()),
      residentBytes: rss,
      heapBytes: heapUsed,
      loopDelayMs: Math.round(loopDelayMs * 10) / 10,
      requests: this.requests.takeNew(),
    }
    this.#samples.push(sample)
    if (this.#samples.length > CONSOLE_LIMITS.samples) this.#samples.shift()
    this.#publish({ type: 'sample', sample })
  }

  #publish(message: StreamMessage): void {
    for (const listener of this.#listeners) listener(message)
  }
}
