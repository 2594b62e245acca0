/** Shows the progress of a long build: one line that is updated on a terminal, periodic lines in a log. */
import type { BuildProgress } from './go-build.ts'

const LOG_INTERVAL_MS = 15_000

/** The parts of a stream that progress is written to. */
export interface ProgressOutput {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** A listener for `ensureBinaries` and `ensureProgram`. `subject` is what is built. */
export function showBuildProgress(
  output: ProgressOutput,
  now: () => number = Date.now,
  subject = 'real cluster',
): (progress: BuildProgress) => void {
  const startedMs = now()
  let shownMs = Number.NEGATIVE_INFINITY
  let shownPhase = ''
  return (progress) => {
    const line = `${subject}: ${describe(progress)} (${duration(now() - startedMs)})`
    if (output.isTTY) {
      const end = progress.phase === 'done' ? '\n' : ''
      output.write(`\r\u001b[K${line.slice(0, (output.columns ?? 80) - 1)}${end}`)
      return
    }
    if (progress.phase === shownPhase && now() - shownMs < LOG_INTERVAL_MS) return
    shownMs = now()
    shownPhase = progress.phase
    output.write(`${line}\n`)
  }
}

function describe({ phase, done, total, detail }: BuildProgress): string {
  switch (phase) {
    case 'waiting':
      return detail
    case 'loading':
      return `fetching modules, ${done} so far: ${detail}`
    case 'compiling':
      return `compiling, ${done} of ${total} packages: ${detail}`
    case 'done':
      return `built into ${detail}`
  }
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}
