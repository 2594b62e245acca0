/** The search loop: generates inputs, runs them, and keeps those with a new outcome. */
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { Corpus } from './corpus.ts'
import { MAX_KEPT_BYTES } from './defaults.ts'
import { inputsFor } from './generate.ts'
import { type Bounds, collectGarbage, Judge, memoryBytes, type Problem } from './judge.ts'
import type { FuzzTarget } from './target.ts'

/** Inputs generated per batch; between batches, new corpus entries are used and messages are processed. */
const BATCH = 40

/** Before that, memory grows because code is compiled and data is loaded, not because of a leak. */
const WARM_UP_RUNS = 2_000

/** The progress of a search. */
export interface Progress {
  readonly runs: number
  readonly corpusSize: number
  /** The input that took most CPU time for its size. */
  readonly slowest: { readonly cpuMs: number; readonly sizeBytes: number }
}

/** The end of a search. */
export interface SearchResult extends Progress {
  /** What took most CPU time for its size; empty when nothing took any. */
  readonly slowestInput: Uint8Array
}

/** What to search, and for how long. */
export interface Search extends Bounds {
  readonly seed: number
  /** Seeds of the corpus, judged first. */
  readonly seeds: readonly Uint8Array[]
  /** Ends after this many generated inputs. */
  readonly maxRuns: number
  /** Ends after this much real time. */
  readonly maxMs: number
  /** Cuts generated inputs even below the bound of their target. */
  readonly maxInputBytes?: number
}

/** Callbacks of a search. */
export interface SearchObserver {
  /** Before each run: should it never end, this is what is known of it. */
  starts?(input: Uint8Array): void
  progress?(progress: Progress): void
  learned?(input: Uint8Array, outcome: string): void
  found(problem: Problem, input: Uint8Array): void
}

/**
 * Searches until a bound of `search` or `signal` ends it.
 *
 * @example
 * await fuzz(target, { seed: 1, seeds: [], maxRuns: 300, maxMs: 5_000 }, { found: (problem) => problems.push(problem) })
 */
export async function fuzz(
  target: FuzzTarget,
  search: Search,
  observer: SearchObserver,
  signal?: AbortSignal,
): Promise<SearchResult> {
  const judge = new Judge(target, search, (input) => observer.starts?.(input))
  const corpus = new Corpus()
  const startedMs = performance.now()
  let runs = 0
  let slowest = { cpuMs: 0, sizeBytes: 0 }
  let slowestInput: Uint8Array = new Uint8Array()
  let memoryWhenWarm: number | undefined
  const now = (): Progress => ({ runs, corpusSize: corpus.size, slowest })
  const perform = async (input: Buffer): Promise<boolean> => {
    const { outcome, cpuMs, problem } = await judge.judge(input)
    if (problem !== undefined) observer.found(problem, input)
    // The first runs pay for code that is compiled.
    if (runs > 50 && slowness(cpuMs, input.length) > slowness(slowest.cpuMs, slowest.sizeBytes)) {
      slowest = { cpuMs, sizeBytes: input.length }
      slowestInput = input
    }
    const lesson = problem === undefined ? corpus.learn(input, outcome) : undefined
    if (lesson !== undefined) observer.learned?.(input, lesson)
    return lesson !== undefined
  }
  for (const seed of [...(target.seeds ?? []), ...search.seeds]) {
    const input = Buffer.from(seed)
    const isLearned = await perform(input)
    if (!isLearned) corpus.add(input)
  }
  const inputs = inputsFor(target, corpus, search.maxInputBytes)
  const isOver = () =>
    runs >= search.maxRuns || performance.now() - startedMs > search.maxMs || signal?.aborted === true
  for (let batch = 0; !isOver(); batch += 1) {
    const numRuns = Math.min(BATCH, search.maxRuns - runs)
    for (const input of fc.sample(inputs, { seed: search.seed + batch, numRuns })) {
      if (isOver()) break
      runs += 1
      await perform(input)
    }
    if (memoryWhenWarm === undefined && runs >= WARM_UP_RUNS) memoryWhenWarm = liveBytes()
    observer.progress?.(now())
    await setImmediate()
  }
  if (memoryWhenWarm !== undefined) reportKept(liveBytes() - memoryWhenWarm, runs, observer)
  return { ...now(), slowestInput }
}

/** CPU time per KiB. Some systems count it in steps of 4 ms, so that small inputs would only show the step. */
function slowness(cpuMs: number, sizeBytes: number): number {
  return Math.max(0, cpuMs - 5) / Math.max(1, sizeBytes / 1024)
}

function liveBytes(): number {
  collectGarbage()
  return memoryBytes()
}

function reportKept(keptBytes: number, runs: number, observer: SearchObserver): void {
  if (keptBytes <= MAX_KEPT_BYTES) return
  const details = `${(keptBytes / 1024 / 1024).toFixed(0)} MiB are still in use after ${runs} inputs: parsed values leak`
  observer.found({ kind: 'memory', signature: 'kept', details }, new Uint8Array())
}
