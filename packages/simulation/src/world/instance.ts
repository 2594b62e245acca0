/** One running instance of the operator under test, and the three ways in which it ends. */
import { createClient } from '@reeve/kube'
import type { CacheHealth } from '@reeve/runtime/cache'
import type { ReconcileRecord } from '@reeve/runtime/controller'
import type { LeaderElectionOptions } from '@reeve/runtime/election'
import { seededRandom } from '@reeve/runtime/testing'
import { type AmbientSource, withAmbient } from '../ambient/ambient-source.ts'
import type { OperatorInstance, OperatorUnderTest, Place } from '../operator-under-test.ts'
import { CountingMetrics } from './counting-metrics.ts'
import { InstanceClock } from './instance-clock.ts'
import { failureLogger, type LoggedFailure } from './logged-failures.ts'
import { Seam, type SeamContext } from './seam.ts'

/** How an instance ended. */
export type InstanceEnd = { readonly type: 'stopped' } | { readonly type: 'failed'; readonly error: Error }

/** What an instance is started with. */
export interface InstanceOptions {
  readonly operator: OperatorUnderTest
  readonly seam: SeamContext
  readonly number: number
  readonly seed: number
  readonly leaderElection: Omit<LeaderElectionOptions, 'clock' | 'logger' | 'metrics'> | undefined
  /** Creates the transport of this instance; `killed` aborts when its requests no longer arrive. */
  readonly outside: (killed: AbortSignal) => Pick<Place, 'outside' | 'world' | 'call'>
  readonly onTimer: () => void
  readonly onEnd: (instance: RunningInstance, end: InstanceEnd) => void
}

/** An instance that runs. */
export class RunningInstance {
  readonly number: number
  readonly identity: string
  /** What it logged about failures. */
  readonly loggedFailures: LoggedFailure[] = []
  readonly metrics = new CountingMetrics()
  readonly #seam: Seam
  readonly #clock: InstanceClock
  readonly #source: AmbientSource
  readonly #reconciles: ReconcileRecord[] = []
  readonly #stop = new AbortController()
  readonly #isProcess: boolean
  readonly #over: Promise<void>
  #running: OperatorInstance | undefined
  #end: InstanceEnd | undefined

  constructor(options: InstanceOptions) {
    const { operator, number, seed } = options
    this.number = number
    this.identity = `${operator.name}-${number}`
    this.#seam = new Seam(options.seam, number)
    // Its own stream: what one instance draws must not shift what the others or the cluster draw.
    const random = seededRandom(seed * 1_000 + number)
    const clock = new InstanceClock(options.seam.clock, options.onTimer, (action) => this.#enter(action, options))
    this.#clock = clock
    this.#source = { clock, random }
    const client = createClient({
      transport: this.#seam,
      clock,
      random,
      userAgent: this.identity,
      fieldManager: operator.name,
    })
    const place: Place = {
      clock,
      random,
      logger: failureLogger((failure) => {
        if (!this.isKilled) this.loggedFailures.push(failure)
      }),
      metrics: this.metrics,
      identity: this.identity,
      transport: this.#seam,
      killed: this.#seam.killed,
      serve: (service, port) => options.seam.services?.set(service, port),
      leaderElection: options.leaderElection && { ...options.leaderElection, identity: this.identity, random },
      ...options.outside(this.#seam.killed),
    }
    this.#isProcess = operator.realTime !== undefined
    this.#over = withAmbient(this.#source, () => this.#run(() => operator.start(place, client))).then(
      () => this.#ended({ type: 'stopped' }, options),
      (error: unknown) => this.#ended({ type: 'failed', error: asError(error) }, options),
    )
  }

  /** How it ended; `undefined` while it runs, and if it was killed. */
  get end(): InstanceEnd | undefined {
    return this.#end
  }

  get isKilled(): boolean {
    return this.#seam.isKilled
  }

  /** Reconciles that ended, of controllers of the runtime. */
  get reconciles(): readonly ReconcileRecord[] {
    return this.#reconciles
  }

  /** Notes a reconcile that ended in the context of `source`, if that is this instance. */
  noteReconcile(source: AmbientSource | undefined, record: ReconcileRecord): void {
    if (source === this.#source && !this.isKilled) this.#reconciles.push(record)
  }

  /** What its health shows; `undefined` for operators that do not say. */
  cacheHealth(): CacheHealth | undefined {
    return this.#running?.cacheHealth?.()
  }

  /** Whether it got the stop signal. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  /** As SIGKILL or a lost node: no timer fires, no request arrives, no response is delivered. */
  kill(): void {
    withAmbient(this.#source, () => this.#seam.kill())
    this.#clock.stop()
  }

  /**
   * Kills it if it still runs, and ends everything in it that still waits. Node keeps a signal made by
   * `AbortSignal.any` alive until it aborts, and with it everything that listens: a dead instance that waited forever
   * would keep its whole world in memory.
   */
  async bury(): Promise<void> {
    this.kill()
    withAmbient(this.#source, () => {
      this.#seam.bury()
      this.#stop.abort(new Error('the world has ended'))
    })
    await this.#clock.runOut()
    // A process ends when it is killed; what waits in this one may never end.
    if (this.#isProcess) await this.#over
  }

  /** Resolves when it has ended by itself or after the stop signal, or as a process that was killed. */
  get over(): Promise<void> {
    return this.#over
  }

  /** As SIGTERM. */
  stop(): void {
    withAmbient(this.#source, () => this.#stop.abort(new Error('stopped')))
  }

  /** In a promise, so that an operator that throws synchronously ends like one that fails later. */
  async #run(start: () => OperatorInstance): Promise<void> {
    await undefined
    this.#running = start()
    await this.#running.run(this.#stop.signal)
  }

  /** An error in a timer is uncaught: it ends the process. */
  #enter(action: () => void, options: InstanceOptions): void {
    try {
      withAmbient(this.#source, action)
    } catch (error) {
      this.#ended({ type: 'failed', error: asError(error) }, options)
      this.kill()
    }
  }

  #ended(end: InstanceEnd, options: InstanceOptions): void {
    if (this.isKilled || this.#end !== undefined) return
    this.#end = end
    this.#clock.stop()
    options.onEnd(this, end)
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
