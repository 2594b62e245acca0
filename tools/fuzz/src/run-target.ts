/** Runs one target: searches, survives hangs, and minimizes findings. */
import { MAX_FINDINGS, MINIMISE_MS } from './defaults.ts'
import type { Progress, Search } from './fuzz-loop.ts'
import { type FuzzThread, ThreadLostError } from './fuzz-thread.ts'
import type { Bounds, Problem } from './judge.ts'
import { seedsOf, type TargetFile } from './load-target.ts'

/** A problem, and an input that shows it. */
export interface Finding {
  readonly problem: Problem
  readonly input: Uint8Array
}

/** The result of a run. */
export interface TargetReport {
  readonly progress: Progress
  readonly durationMs: number
  readonly findings: readonly Finding[]
  /** What took most CPU time for its size. */
  readonly slowestInput: Uint8Array
}

/** Options of {@link runTarget}. */
export interface RunOptions extends Omit<Search, 'seeds'> {
  /** What earlier runs learned, on top of the seeds beside the target. */
  readonly learned?: readonly Uint8Array[]
  readonly onProgress?: (progress: Progress, findings: number) => void
  readonly onLearned?: (input: Uint8Array, outcome: string) => void
  /** Called immediately, before the input is minimized. */
  readonly onFound?: (finding: Finding) => void
  readonly signal?: AbortSignal
}

/**
 * Runs a target within bounds. Every different problem is one finding.
 *
 * @example
 * const { findings } = await runTarget(file, thread, { seed: 1, maxRuns: 300, maxMs: 10_000 })
 */
export async function runTarget(file: TargetFile, thread: FuzzThread, options: RunOptions): Promise<TargetReport> {
  const { seed, maxRuns, maxMs, signal, msPerKib, maxInputBytes } = options
  const bounds = { ...(msPerKib !== undefined && { msPerKib }), ...(maxInputBytes !== undefined && { maxInputBytes }) }
  const startedMs = performance.now()
  const found = new Map<string, Finding>()
  const stop = new AbortController()
  const note = (finding: Finding) => {
    if (found.has(finding.problem.signature)) return
    found.set(finding.problem.signature, finding)
    options.onFound?.(finding)
    if (found.size >= MAX_FINDINGS) stop.abort()
  }
  const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
  // A search that lost its thread is followed by another, which has other inputs.
  const total = { runs: 0, current: { runs: 0, corpusSize: 0, slowest: { cpuMs: 0, sizeBytes: 0 } } as Progress }
  const progress = (): Progress => ({ ...total.current, runs: total.runs + total.current.runs })
  let slowestInput: Uint8Array = new Uint8Array()
  const seeds = [...seedsOf(file), ...(options.learned ?? [])]
  for (let search = 0; search === 0 || !stopped.aborted; search += 1) {
    const leftMs = maxMs - (performance.now() - startedMs)
    const leftRuns = maxRuns - total.runs
    if (search > 0 && (leftMs <= 0 || leftRuns <= 0)) break
    try {
      const result = await thread.fuzz(
        file.path,
        // A seed that hangs would hang every search.
        {
          ...bounds,
          seed: seed + search * 1_000_003,
          seeds: search === 0 ? seeds : [],
          maxRuns: leftRuns,
          maxMs: leftMs,
        },
        {
          progress: (now) => {
            total.current = now
            options.onProgress?.(progress(), found.size)
          },
          learned: (input, outcome) => options.onLearned?.(input, outcome),
          found: (problem, input) => note({ problem, input }),
        },
        stopped,
      )
      slowestInput = result.slowestInput
      total.current = result
      break
    } catch (error) {
      if (!(error instanceof ThreadLostError)) throw error
      note({ problem: error.problem, input: error.input })
      total.runs += total.current.runs + 1
    }
  }
  const durationMs = performance.now() - startedMs
  return { progress: progress(), durationMs, findings: [...found.values()], slowestInput }
}

/** The finding with a smaller input, if there is one that shows the same. */
export async function minimiseFinding(
  file: TargetFile,
  thread: FuzzThread,
  { problem, input }: Finding,
  bounds: Bounds = {},
): Promise<Finding> {
  const { minimise } = await import('./minimise.ts')
  const startedMs = performance.now()
  let smallest = problem
  const stillFails = async (candidate: Uint8Array) => {
    const seen = await problemWith(file, thread, candidate, bounds)
    if (seen === undefined || family(seen) !== family(problem)) return false
    smallest = seen
    return true
  }
  const isOver = () => performance.now() - startedMs > MINIMISE_MS
  const small = await minimise(input, stillFails, isOver)
  return { problem: smallest, input: small }
}

/** What is wrong with one input, if anything. */
export async function problemWith(
  file: TargetFile,
  thread: FuzzThread,
  input: Uint8Array,
  bounds: Bounds = {},
): Promise<Problem | undefined> {
  try {
    return (await thread.judge(file.path, input, bounds)).problem
  } catch (error) {
    if (error instanceof ThreadLostError) return error.problem
    throw error
  }
}

/** A smaller input may be slow where the larger one hung. */
function family({ kind, signature }: Problem): string {
  return kind === 'hang' || kind === 'slow' ? 'time' : signature
}
