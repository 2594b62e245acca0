/** Runs many specs with several processes: parallel ones first, then those that must run alone. */
import { join } from 'node:path'
import { runSpecs, type SpecProcessOptions } from './spec-process.ts'
import type { SpecResult } from './spec-report.ts'
import type { Spec } from './specs.ts'

/** Options of a run. */
export interface RunOptions extends Omit<SpecProcessOptions, 'reportPath' | 'outputPath' | 'onEnded' | 'onStarted'> {
  readonly workers: number
  /** Folder of reports and output. */
  readonly folder: string
  readonly onResult: (spec: Spec, result: SpecResult) => void
}

/** A process starts in about a second, so that each gets several specs; few at the end, so that all finish together. */
const LARGEST_BATCH = 8

/** Runs all specs and returns their results by name. */
export async function runAll(specs: readonly Spec[], options: RunOptions): Promise<ReadonlyMap<string, SpecResult>> {
  const results = new Map<string, SpecResult>()
  let processes = 0
  await runQueue(
    specs.filter(({ isSerial }) => !isSerial),
    options.workers,
  )
  await runQueue(
    specs.filter(({ isSerial }) => isSerial),
    1,
  )
  return results

  async function runQueue(queued: readonly Spec[], workers: number): Promise<void> {
    const queue = [...queued]
    const work = async () => {
      while (queue.length > 0 && !options.signal.aborted) {
        const size = Math.max(1, Math.min(LARGEST_BATCH, Math.floor(queue.length / workers / 2)))
        const batch = queue.splice(0, size)
        queue.unshift(...(await runBatch(batch)))
      }
    }
    await Promise.all(Array.from({ length: workers }, work))
  }

  /** Returns the specs that did not run, because one before them was interrupted. */
  async function runBatch(batch: readonly Spec[]): Promise<readonly Spec[]> {
    processes += 1
    const path = join(options.folder, `process-${processes}`)
    const attempted = new Set<string>()
    const ran = await runSpecs(batch, {
      ...options,
      reportPath: `${path}.json`,
      outputPath: `${path}.log`,
      onStarted: ({ name }) => attempted.add(name),
      onEnded: () => undefined,
    })
    const left: Spec[] = []
    for (const spec of batch) {
      const result = ran.get(spec.name)
      if (result !== undefined) record(spec, result, `${path}.log`)
      else if (ran.size === 0 || attempted.has(spec.name)) record(spec, lost, `${path}.log`)
      else left.push(spec)
    }
    return left
  }

  function record(spec: Spec, result: SpecResult, log: string): void {
    if (options.signal.aborted) return
    const known = result.outcome === 'passed' ? result : { ...result, message: `${result.message}\nlog: ${log}` }
    results.set(spec.name, known)
    options.onResult(spec, known)
  }
}

const lost: SpecResult = { outcome: 'failed', seconds: 0, message: 'the process ended without a result' }
