/** The instances of the operator in one world: starts them, and knows which of them still run. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sleep } from '@reeve/http'
import { RECONCILE_CHANNEL, type ReconcileRecord } from '@reeve/runtime/controller'
import { ambientSource } from '../ambient/ambient-source.ts'
import type { OperatorUnderTest } from '../operator-under-test.ts'
import { type InstanceEnd, type InstanceOptions, RunningInstance } from './instance.ts'
import { LEASES } from './request-facts.ts'
import type { SeamContext } from './seam.ts'

/** The lease that instances compete for when a pattern needs an election. */
const LEASE = { namespace: 'default', name: 'operator-under-test' }

/** What all instances of a world share. */
export interface InstancesOptions {
  readonly seam: SeamContext
  readonly seed: number
  /** Makes the way out of an instance; `killed` aborts when nothing of it arrives any more. */
  readonly outside: (instance: number, killed: AbortSignal) => ReturnType<InstanceOptions['outside']>
  readonly onTimer: (instance: number) => void
  /** Called when an instance ends by itself. */
  readonly onEnd: (instance: RunningInstance, end: InstanceEnd) => void
}

/** Every instance that was ever started. */
export class Instances {
  readonly all: RunningInstance[] = []
  readonly #options: InstancesOptions
  readonly #onReconcile = (record: unknown) => {
    // Reconciles run in the context of their instance.
    for (const instance of this.all) instance.noteReconcile(ambientSource(), record as ReconcileRecord)
  }

  constructor(options: InstancesOptions) {
    this.#options = options
    subscribe(RECONCILE_CHANNEL, this.#onReconcile)
  }

  start(operator: OperatorUnderTest, options: { readonly election?: boolean }): RunningInstance {
    const { seam, seed, outside, onTimer, onEnd } = this.#options
    const number = this.all.length + 1
    seam.record(number, 'life', 'started')
    const instance = new RunningInstance({
      operator,
      seam,
      number,
      seed,
      leaderElection: options.election ? { lease: LEASE } : undefined,
      outside: (killed) => outside(number, killed),
      onTimer: () => onTimer(number),
      onEnd: (ended, end) => {
        seam.record(number, 'life', end.type === 'stopped' ? 'ended' : `failed: ${end.error.message}`)
        onEnd(ended, end)
      },
    })
    this.all.push(instance)
    return instance
  }

  /** Those that still run. */
  get running(): readonly RunningInstance[] {
    return this.all.filter(({ end, isKilled }) => end === undefined && !isKilled)
  }

  /** Who leads, according to the lease. */
  get leaseHolder(): string | undefined {
    const lease = this.#options.seam.cluster.api.get(LEASES, LEASE.namespace, LEASE.name)
    return (lease?.spec as { readonly holderIdentity?: string } | undefined)?.holderIdentity
  }

  /** Stops all of them, as far as they obey within the time. */
  async stop(graceMs: number): Promise<void> {
    const stopping = this.running
    for (const instance of stopping) instance.stop()
    const over = new AbortController()
    const grace = sleep(graceMs, { signal: over.signal }).catch(() => undefined)
    await Promise.race([Promise.all(stopping.map((instance) => instance.over)), grace])
    over.abort()
  }

  /** Ends all of them, and everything in them that still waits. */
  async close(): Promise<void> {
    await Promise.all(this.all.map((instance) => instance.bury()))
    unsubscribe(RECONCILE_CHANNEL, this.#onReconcile)
  }
}
