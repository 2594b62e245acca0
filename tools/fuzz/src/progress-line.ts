/** The progress line of a run: updated in place on a terminal, printed from time to time elsewhere. */
import type { Progress } from './fuzz-loop.ts'

/** Interval between two lines if the output is not a terminal. */
const QUIET_MS = 10_000

/** Options of {@link ProgressLine}. */
export interface ProgressLineOptions {
  /** Whether the line can be written over. */
  readonly isTerminal: boolean
  /** Milliseconds of real time. */
  readonly now: () => number
}

/**
 * Writes the progress of one target to wherever `write` leads.
 *
 * @example
 * const line = new ProgressLine('cel', (text) => process.stderr.write(text), { isTerminal: true, now: () => performance.now() })
 */
export class ProgressLine {
  readonly #target: string
  readonly #write: (text: string) => void
  readonly #options: ProgressLineOptions
  readonly #startedMs: number
  #lastMs: number

  constructor(target: string, write: (text: string) => void, options: ProgressLineOptions) {
    this.#target = target
    this.#write = write
    this.#options = options
    this.#startedMs = options.now()
    this.#lastMs = this.#startedMs
  }

  update(progress: Progress, findings: number): void {
    const nowMs = this.#options.now()
    if (nowMs - this.#lastMs < (this.#options.isTerminal ? 200 : QUIET_MS)) return
    this.#lastMs = nowMs
    const text = progressText(this.#target, progress, findings, nowMs - this.#startedMs)
    this.#write(this.#options.isTerminal ? `\r${text}\x1b[K` : `${text}\n`)
  }

  /** The last word; leaves a clean line behind. */
  end(progress: Progress, findings: number): void {
    const text = progressText(this.#target, progress, findings, this.#options.now() - this.#startedMs)
    this.#write(this.#options.isTerminal ? `\r${text}\x1b[K\n` : `${text}\n`)
  }
}

/** `cel: 12345 runs, 2010/s, corpus 87, slowest 0.42 ms for 1.2 KiB, 0 findings, 6 s`. */
export function progressText(target: string, progress: Progress, findings: number, elapsedMs: number): string {
  const { runs, corpusSize, slowest } = progress
  const perSecond = Math.round(runs / Math.max(0.001, elapsedMs / 1_000))
  const slow = `slowest ${slowest.cpuMs.toFixed(2)} ms for ${(slowest.sizeBytes / 1024).toFixed(1)} KiB`
  const found = `${findings} finding${findings === 1 ? '' : 's'}`
  return `${target}: ${runs} runs, ${perSecond}/s, corpus ${corpusSize}, ${slow}, ${found}, ${Math.round(elapsedMs / 1_000)} s`
}
