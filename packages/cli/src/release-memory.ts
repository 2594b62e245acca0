/** Returns memory to the system while a process has nothing to do. */
import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MIB = 1024 * 1024

const RELEASE_DEFAULTS = {
  checkIntervalMs: 1_000,
  /** A process that is busy for a smaller share of an interval rests. */
  restingShare: 0.05,
  /** Less is not worth a collection. */
  minGrowthBytes: 2 * MIB,
  /** The pause grows with the heap, while what V8 keeps in reserve does not. */
  maxUsedBytes: 64 * MIB,
  /** Collections take at most this share of the time. */
  maxShareOfTime: 0.01,
} as const

/** The heap of a process. */
export interface Heap {
  /** What V8 has taken from the system. */
  committedBytes(): number
  usedBytes(): number
  /** Collects all garbage and returns what is free. Nothing else runs meanwhile. */
  collect(): void
}

/**
 * Decides when to collect: V8 grows its heap while a process works, and keeps the reserve for work that may never come.
 *
 * *Guarantees*: no collection while the process works, and none that cannot find anything.
 */
export class MemoryRelease {
  readonly #heap: Heap
  readonly #now: () => number
  #releasedTo = 0
  #notBefore = 0

  /** @param now milliseconds of a clock that never goes back */
  constructor(heap: Heap, now: () => number) {
    this.#heap = heap
    this.#now = now
  }

  /** @param busyShare of the time since the last check, from 0 to 1 */
  check(busyShare: number): void {
    const { restingShare, minGrowthBytes, maxUsedBytes, maxShareOfTime } = RELEASE_DEFAULTS
    const startedAt = this.#now()
    if (busyShare >= restingShare || startedAt < this.#notBefore) return
    if (this.#heap.committedBytes() < this.#releasedTo + minGrowthBytes) return
    if (this.#heap.usedBytes() > maxUsedBytes) return
    this.#heap.collect()
    const endedAt = this.#now()
    this.#releasedTo = this.#heap.committedBytes()
    this.#notBefore = endedAt + (endedAt - startedAt) / maxShareOfTime
  }
}

/** The heap of this process. */
export const ownHeap: Heap = {
  committedBytes: () => getHeapStatistics().total_heap_size,
  usedBytes: () => getHeapStatistics().used_heap_size,
  collect: () => {
    // Only contexts that are created while the flag is set have the function. Other collections keep the reserve.
    setFlagsFromString('--expose-gc')
    try {
      runInNewContext("gc({ type: 'major', flavor: 'last-resort' })")
    } finally {
      setFlagsFromString('--no-expose-gc')
    }
  },
}

/**
 * Returns memory of this process whenever it rests, until disposed.
 *
 * @example
 * using release = releaseMemoryAtRest()
 * await manager.run(signal)
 */
export function releaseMemoryAtRest(): Disposable {
  const release = new MemoryRelease(ownHeap, () => performance.now())
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    release.check(performance.eventLoopUtilization(now, before).utilization)
    before = now
  }, RELEASE_DEFAULTS.checkIntervalMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
