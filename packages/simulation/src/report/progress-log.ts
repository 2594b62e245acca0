/** Reports the progress of an exploration: one live line on a terminal, periodic lines elsewhere. */
import type { Progress } from './exploration-report.ts'

/** Between two lines about the same pattern without a terminal. */
const QUIET_MS = 10_000

/** Options of {@link ProgressLog}. */
export interface ProgressLogOptions {
  /** Whether the line can be written over. */
  readonly isTerminal: boolean
  /** Milliseconds of real time. */
  readonly now: () => number
}

/**
 * Writes progress to wherever `write` leads.
 *
 * @example
 * const log = new ProgressLog((text) => process.stderr.write(text), { isTerminal: false, now: () => performance.now() })
 * await explore(operator, scenario, { onProgress: (progress) => log.update(operator.name, progress) })
 */
export class ProgressLog {
  readonly #write: (text: string) => void
  readonly #options: ProgressLogOptions
  readonly #startedMs: number
  /** When each pattern of each operator was begun. */
  readonly #patternsMs = new Map<string, number>()
  #lastMs: number
  #last: string | undefined

  constructor(write: (text: string) => void, options: ProgressLogOptions) {
    this.#write = write
    this.#options = options
    this.#startedMs = options.now()
    this.#lastMs = this.#startedMs
  }

  /** One more run, or none yet of a pattern that begins. */
  update(operator: string, progress: Progress): void {
    const { pattern, done, total, doneInAll, totalInAll, divergences } = progress
    const name = `${operator} ${pattern}`
    this.#last = `${name}: ${done} of ${total}, ${doneInAll} of ${totalInAll} in all`
    if (this.#options.isTerminal) {
      this.#overwrite()
      return
    }
    const nowMs = this.#options.now()
    const beganMs = this.#patternsMs.get(name)
    if (beganMs === undefined) {
      this.#patternsMs.set(name, nowMs)
      this.#line(`${name}: ${counted(total, 'point')}`)
    }
    if (done === total) {
      const found = counted(divergences, 'divergence')
      this.#line(`${name}: ${counted(done, 'run')}, ${found}, ${seconds(nowMs - (beganMs ?? nowMs))}`)
    } else this.tick()
  }

  /** For a timer: a run that takes long shows, too. */
  tick(): void {
    if (this.#last === undefined) return
    if (this.#options.isTerminal) this.#overwrite()
    else if (this.#options.now() - this.#lastMs >= QUIET_MS) this.#line(`${this.#last}, ${this.#elapsed()}`)
  }

  /** Leaves a clean line behind. */
  end(): void {
    if (this.#options.isTerminal && this.#last !== undefined) this.#write('\r\x1b[K')
    this.#last = undefined
  }

  #line(text: string): void {
    this.#lastMs = this.#options.now()
    this.#write(`${text}\n`)
  }

  #overwrite(): void {
    this.#write(`\r${this.#last}, ${this.#elapsed()}\x1b[K`)
  }

  #elapsed(): string {
    return seconds(this.#options.now() - this.#startedMs)
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
