/** One run of a reconcile: its time limit, its signal, its client, and what it leaves for the record. */
import type { Timer } from '@reeve/http'
import type { KubeClient, ObjectKey } from '@reeve/kube'
import { type Interceptor, interceptClient } from '../client/intercept.ts'
import {
  type Abandonment,
  recordWrites,
  untilAbandoned,
  type WriteListener,
  type WriteRecord,
} from '../client/reconcile-client.ts'
import { ControllerStoppingError, ReconcileAbandonedError, ReconcileTimeoutError } from './controller-error.ts'
import { GRACE_MS } from './controller-options.ts'
import type { StageRecord } from './reconcile-record.ts'

/** A reconcile that writes more than this is unusual: the rest is only counted. */
const MAX_WRITE_RECORDS = 50

/** Names of stages are chosen by code, but code can be wrong: no more than this many are kept apart. */
const MAX_STAGES = 32

/** Options of {@link ReconcileRun}. */
export interface ReconcileRunOptions extends Omit<WriteListener, 'onWrite'> {
  readonly controller: string
  readonly key: ObjectKey
  readonly client: KubeClient
  /** What else surrounds its calls. */
  readonly interceptors: readonly Interceptor[]
  readonly timeoutMs: number
  /** Abort when the controller stops, or when the object goes to another replica. */
  readonly stopping: readonly AbortSignal[]
}

/**
 * *Guarantees*: {@link ReconcileRun.execute} settles at the latest {@link GRACE_MS} after the time limit or the stop, whatever
 * the work does; from then on {@link ReconcileRun.client} rejects everything, so that abandoned work cannot write while
 * the next reconcile of the same key is in progress.
 */
export class ReconcileRun implements Abandonment {
  readonly client: KubeClient
  readonly #options: ReconcileRunOptions
  readonly #cut = new AbortController()
  /** Made when it is needed: most reconciles end by themselves, and use no signal but their own. */
  #abandonedSignal: AbortController | undefined
  #abandonedFor: ReconcileAbandonedError | undefined
  #giveUp: ((reason: Error) => void) | undefined
  readonly #stages = new Map<string, Omit<StageRecord, 'name'>>()
  readonly #writes: WriteRecord[] = []
  #omittedWrites = 0
  #graceTimer: Timer | undefined

  constructor(options: ReconcileRunOptions) {
    this.#options = options
    const onWrite = (write: WriteRecord) => {
      if (this.#writes.length < MAX_WRITE_RECORDS) this.#writes.push(write)
      else this.#omittedWrites++
    }
    const own = [recordWrites({ ...options, onWrite }), untilAbandoned(this)]
    this.client = interceptClient(options.client, [...own, ...options.interceptors])
  }

  /** For the work to listen to. */
  get signal(): AbortSignal {
    return this.#cut.signal
  }

  get isAbandoned(): boolean {
    return this.#abandonedFor !== undefined
  }

  throwIfAbandoned(): void {
    if (this.#abandonedFor !== undefined) throw this.#abandonedFor
  }

  /** Aborts when the work is abandoned. */
  get abandonedSignal(): AbortSignal {
    this.#abandonedSignal ??= new AbortController()
    if (this.#abandonedFor !== undefined) this.#abandonedSignal.abort(this.#abandonedFor)
    return this.#abandonedSignal.signal
  }

  get stages(): readonly StageRecord[] {
    return [...this.#stages].map(([name, times]) => ({ name, ...times }))
  }

  get writes(): readonly WriteRecord[] {
    return this.#writes
  }

  get omittedWrites(): number {
    return this.#omittedWrites
  }

  /** Does the work within its limits, and settles as it does. */
  async execute<R>(work: () => Promise<R>): Promise<R> {
    const { clock, controller, key, timeoutMs, stopping } = this.#options
    const onStop = () => {
      const cause: unknown = stopping.find(({ aborted }) => aborted)?.reason
      this.#cutShort(new ControllerStoppingError(controller, { cause }))
    }
    const timer = clock.schedule(timeoutMs, () => this.#cutShort(new ReconcileTimeoutError(controller, key, timeoutMs)))
    for (const signal of stopping) signal.addEventListener('abort', onStop, { once: true })
    if (stopping.some(({ aborted }) => aborted)) onStop()
    try {
      return await new Promise<R>((resolve, reject) => {
        this.#giveUp = reject
        // Through an async function, so that an exception before the first await is a rejection like any other.
        void (async () => work())().then(resolve, reject)
      })
    } finally {
      timer.cancel()
      this.#graceTimer?.cancel()
      for (const signal of stopping) signal.removeEventListener('abort', onStop)
    }
  }

  /** Runs and measures a part of the work. */
  stage<R>(name: string, run: () => R): R {
    const { clock } = this.#options
    const startedMs = clock.now()
    const end = () => {
      const known = this.#stages.get(name)
      if (known === undefined && this.#stages.size >= MAX_STAGES) return
      const durationMs = (known?.durationMs ?? 0) + clock.now() - startedMs
      this.#stages.set(name, { startedMs: known?.startedMs ?? startedMs, durationMs })
    }
    let isPending = false
    try {
      const result = run()
      if (!(result instanceof Promise)) return result
      isPending = true
      // The same promise is returned; this branch only measures, and the caller handles the rejection.
      result.then(end, end)
      return result
    } finally {
      if (!isPending) end()
    }
  }

  #cutShort(reason: Error): void {
    if (this.#cut.signal.aborted) return
    const { clock, controller, key } = this.#options
    this.#cut.abort(reason)
    this.#graceTimer = clock.schedule(GRACE_MS, () => {
      const abandoned = new ReconcileAbandonedError(controller, key, GRACE_MS, { cause: reason })
      this.#abandonedFor = abandoned
      this.#abandonedSignal?.abort(abandoned)
      this.#giveUp?.(abandoned)
    })
  }
}
