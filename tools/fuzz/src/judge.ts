/** Runs a target on one input and judges what it did: outcome, time, memory, side effects. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DEFAULT_MS_PER_KIB, FLOOR_MEMORY_BYTES, FLOOR_MS, MEMORY_BYTES_PER_BYTE } from './defaults.ts'
import { PrototypeGuard } from './prototype-guard.ts'
import type { FuzzTarget } from './target.ts'

/** What is wrong with an input's run. */
export interface Problem {
  /** `hang` and `exit` are seen from outside of the thread, `warning` by the process. */
  readonly kind: 'crash' | 'law' | 'slow' | 'memory' | 'pollution' | 'warning' | 'hang' | 'exit'
  /** The same for inputs that show the same bug. */
  readonly signature: string
  /** For people. */
  readonly details: string
}

/** What came of one input. */
export interface Verdict {
  readonly outcome: string
  readonly cpuMs: number
  readonly problem?: Problem
}

/** Bounds of the judgement. */
export interface Bounds {
  /** @default 100 */
  readonly msPerKib?: number
}

/** CPU time that an input of this size may take. */
export function allowedMs(sizeBytes: number, { msPerKib = DEFAULT_MS_PER_KIB }: Bounds): number {
  return Math.max(FLOOR_MS, (sizeBytes / 1024) * msPerKib)
}

/**
 * Judges runs in the thread it lives in.
 *
 * *Guarantee*: time and memory are complaints only when a second and a third run confirm them.
 */
export class Judge {
  readonly #target: FuzzTarget
  readonly #bounds: Bounds
  readonly #starts: (input: Uint8Array) => void
  readonly #prototypes = new PrototypeGuard()

  /** `starts` is called before each run; an input may need several runs. */
  constructor(target: FuzzTarget, bounds: Bounds = {}, starts: (input: Uint8Array) => void = () => undefined) {
    this.#target = target
    this.#bounds = bounds
    this.#starts = starts
  }

  async judge(input: Uint8Array): Promise<Verdict> {
    const first = await this.#run(input)
    const maxMs = allowedMs(input.length, this.#bounds)
    const maxBytes = FLOOR_MEMORY_BYTES + input.length * MEMORY_BYTES_PER_BYTE
    const isOver = ({ cpuMs, memoryBytes }: Measured) => cpuMs > maxMs || memoryBytes > maxBytes
    if (first.problem !== undefined || !isOver(first)) return first
    const again: Measured[] = [first]
    for (let count = 0; count < 2; count += 1) {
      collectGarbage()
      again.push(await this.#run(input))
    }
    const cpuMs = Math.min(...again.map((one) => one.cpuMs))
    const memoryBytes = Math.min(...again.map((one) => one.memoryBytes))
    const { outcome } = first
    if (cpuMs > maxMs) {
      const details = `${cpuMs.toFixed(0)} ms of CPU for ${input.length} bytes; ${maxMs.toFixed(0)} ms are allowed`
      return { outcome, cpuMs, problem: { kind: 'slow', signature: 'slow', details } }
    }
    if (memoryBytes > maxBytes) {
      const details = `${mebibytes(memoryBytes)} for ${input.length} bytes; ${mebibytes(maxBytes)} are allowed`
      return { outcome, cpuMs, problem: { kind: 'memory', signature: 'memory', details } }
    }
    return { outcome, cpuMs }
  }

  async #run(input: Uint8Array): Promise<Measured> {
    this.#starts(input)
    const memoryBefore = memoryBytes()
    const cpuBefore = process.threadCpuUsage()
    let outcome = 'problem'
    let problem: Problem | undefined
    try {
      outcome = await this.#target.run(input)
    } catch (error) {
      problem = problemOf(error)
    }
    const { user, system } = process.threadCpuUsage(cpuBefore)
    const measured = { outcome, cpuMs: (user + system) / 1_000, memoryBytes: memoryBytes() - memoryBefore }
    const polluted = this.#prototypes.restore()
    if (polluted !== undefined) {
      const details = `${polluted} was changed`
      problem ??= { kind: 'pollution', signature: details, details }
    }
    return problem === undefined ? measured : { ...measured, problem }
  }
}

/** Collects garbage, so that the next measurement is not affected by it. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

/** Memory in use by this thread, garbage included. */
export function memoryBytes(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
  return heap + external
}

interface Measured extends Verdict {
  readonly memoryBytes: number
}

function problemOf(error: unknown): Problem {
  if (!(error instanceof Error)) return { kind: 'crash', signature: 'not an error', details: `threw ${String(error)}` }
  const details = [error.stack ?? error.message, ...causes(error)].join('\ncaused by ').slice(0, 4_000)
  if (error.name === 'LawBrokenError') {
    return { kind: 'law', signature: error.message.split(':')[0] ?? '', details }
  }
  return { kind: 'crash', signature: `${error.name} ${placeOf(error)}`, details }
}

function causes(error: Error): string[] {
  return error.cause instanceof Error ? [error.cause.stack ?? error.cause.message, ...causes(error.cause)] : []
}

/** The first line of the stack that is in code of ours, or else the first. A stack that overflowed has no place. */
function placeOf(error: Error): string {
  if (error instanceof RangeError && error.message.startsWith('Maximum call stack')) return error.message
  const lines = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return (lines.find((line) => !/node_modules|node:/.test(line)) ?? lines[0] ?? '').trim()
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
