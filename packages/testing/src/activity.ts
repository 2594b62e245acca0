/** What an operator is still busy with, and whether it has come to rest. */
import type { ClusterEvent, EmbeddedCluster } from '@reeve/embedded-cluster'
import type { Clock } from '@reeve/http'
import { formatKey } from '@reeve/kube'
import type { ReconcileOutcome, ReconcileRecord } from '@reeve/runtime/controller'
import { describeDuration } from './duration.ts'
import type { WorkingController } from './replica.ts'

/** Written all the time, or without an effect on anything. */
const BOOKKEEPING = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io'])

/** After these a reconcile is tried again until it succeeds. */
const UNFINISHED: ReadonlySet<ReconcileOutcome> = new Set(['error', 'timeout', 'conflict'])

/** The operator still had something to do; the message says what. */
export class NotSettledError extends Error {
  override readonly name = 'NotSettledError'
  readonly code = 'NOT_SETTLED'
}

/** Follows one operator on one cluster. */
export class Activity {
  readonly #clock: Clock
  readonly #last = new Map<string, ReconcileRecord>()
  readonly #recent: { readonly atMs: number; readonly what: string }[] = []
  readonly #quietMs: number
  #lastWriteMs: number

  /** @param quietMs how long nothing may be written before the world counts as settled */
  constructor(cluster: EmbeddedCluster, clock: Clock, quietMs: number) {
    this.#clock = clock
    this.#quietMs = quietMs
    this.#lastWriteMs = clock.now()
    cluster.api.subscribe((event) => this.#written(event))
  }

  /** Takes note of a reconcile that ended. */
  reconciled(record: ReconcileRecord): void {
    this.#last.set(`${record.controller} ${formatKey(record.key)}`, record)
  }

  /** Somebody acts on the cluster: what follows takes its time. */
  touched(): void {
    this.#lastWriteMs = this.#clock.now()
  }

  /** Whether nothing was written for a while and nothing is left to be tried again. */
  isQuiet(controllers: readonly WorkingController[]): boolean {
    return this.#clock.now() - this.#lastWriteMs >= this.#quietMs && this.pending(controllers).length === 0
  }

  /** A line for everything that is not done. */
  pending(controllers: readonly WorkingController[]): readonly string[] {
    const nowMs = this.#clock.now()
    const failing = [...this.#last.values()].filter(({ outcome }) => UNFINISHED.has(outcome))
    const working = controllers.filter(({ depth, inProgress }) => depth + inProgress > 0)
    return [
      ...failing.map(({ controller, key, attempt, error = 'it failed', nextRunMs }) => {
        const next = nextRunMs === undefined ? '' : `, the next in ${describeDuration(Math.max(0, nextRunMs - nowMs))}`
        return `${controller} ${formatKey(key)}: ${error} (attempt ${attempt}${next})`
      }),
      ...working.map(
        ({ name, depth, inProgress }) => `${name}: ${inProgress} reconciles in progress, ${depth} objects waiting`,
      ),
      ...this.#repeated(nowMs),
    ]
  }

  #written({ type, resource, object }: ClusterEvent): void {
    if (BOOKKEEPING.has(resource)) return
    const atMs = this.#clock.now()
    this.#lastWriteMs = atMs
    const { namespace, name } = object.metadata as { readonly namespace?: string; readonly name?: string }
    this.#recent.push({ atMs, what: `${type} ${resource} ${namespace === undefined ? '' : `${namespace}/`}${name}` })
    if (this.#recent.length > 1_000) this.#recent.shift()
  }

  /** What is written again and again. */
  #repeated(nowMs: number): readonly string[] {
    const counts = new Map<string, number>()
    for (const { atMs, what } of this.#recent) {
      if (nowMs - atMs < this.#quietMs) counts.set(what, (counts.get(what) ?? 0) + 1)
    }
    return [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 3)
      .map(([what, count]) => `${what}: written ${count} times in the last ${describeDuration(this.#quietMs)}`)
  }
}
