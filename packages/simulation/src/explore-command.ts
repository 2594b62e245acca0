/** @module `reeve explore`: explores operators from the command line. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Command, readArguments, USAGE } from './command-line.ts'
import type { ExplorationReport } from './explore.ts'
import { isAboutProcess } from './process/process-command-line.ts'
import { ProgressLog } from './report/progress-log.ts'
import { divergencesText, missedText, type ReplayOptions, reportTable, summaryLine } from './report/report-text.ts'

/** How often a line of progress may be due. */
const TICK_MS = 1_000

/** An invalid command line, as in the operators. */
const EXIT_USAGE = 64

/** A report, and the module it is about. */
interface Explored {
  readonly report: ExplorationReport
  readonly path: string
}

async function exploreAll(command: Command, signal: AbortSignal): Promise<readonly Explored[]> {
  // Loaded only now: help and mistakes in the command line need not wait for a whole cluster to be imported.
  const { exploreInThreads } = await import('./explore-in-threads.ts')
  const { findExplorations } = await import('./find-explorations.ts')
  const explored: Explored[] = []
  const log = new ProgressLog((text) => process.stderr.write(text), {
    isTerminal: process.stderr.isTTY,
    now: () => performance.now(),
  })
  const ticking = setInterval(() => log.tick(), TICK_MS)
  try {
    for (const { path, operator } of await findExplorations(process.cwd(), command)) {
      if (signal.aborted) break
      const { seed, budget, threads, patterns, pairs, point, maxPoints, maxSeconds } = command
      const report = await exploreInThreads(path, {
        seed,
        budget,
        pairs,
        threads,
        signal,
        ...(patterns.length > 0 && { patterns }),
        ...(point !== undefined && { point }),
        ...(maxPoints !== undefined && { maxPoints }),
        ...(maxSeconds !== undefined && { maxSeconds }),
        onProgress: (progress) => log.update(operator, progress),
      })
      explored.push({ report, path })
    }
  } finally {
    clearInterval(ticking)
    log.end()
  }
  return explored
}

function print(explored: readonly Explored[], command: Command, durationMs: number): void {
  const { output } = command
  const reports = explored.map(({ report }) => report)
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify({ reports, durationMs }, undefined, 2)}\n`)
    return
  }
  for (const { report, path } of explored) {
    const { operator, divergences } = report
    const replay = replayOf(command, path)
    process.stdout.write(divergencesText(divergences, operator, replay))
  }
  process.stdout.write(`${reportTable(reports)}\n${missedText(reports)}\n${summaryLine(reports, durationMs)}\n`)
}

async function version(): Promise<string> {
  return JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')).version
}

/** What the commands that replay a point of a module need. */
function replayOf({ budget, modules }: Command, path: string): ReplayOptions {
  const module = modules.find((given) => resolve(given) === path)
  return { budget, ...(module !== undefined && { module }) }
}

/**
 * Explores what the arguments say, and returns the exit code.
 *
 * @example
 * process.exitCode = await exploreCommand(['--operator', 'webapp', '--quick'])
 */
export async function exploreCommand(args: readonly string[]): Promise<number> {
  try {
    return await run(['explore', ...args])
  } catch (error) {
    const help = isUsage(error) ? `\n${USAGE}` : ''
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${help}`)
    return help === '' ? 1 : EXIT_USAGE
  }
}

async function run(args: readonly string[]): Promise<number> {
  if (isAboutProcess(args)) {
    const { runProcessCommand } = await import('./process/process-cli.ts')
    return runProcessCommand(args)
  }
  const command = readArguments(args)
  if (command === 'help' || command === 'version') {
    process.stdout.write(command === 'help' ? USAGE : `${await version()}\n`)
    return 0
  }
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const startedMs = performance.now()
  const explored = await exploreAll(command, stop.signal)
  const durationMs = Math.round(performance.now() - startedMs)
  print(explored, command, durationMs)
  if (command.reportFile !== undefined) {
    // Loaded only now: the console is not needed for anything else.
    const { writeReport } = await import('./report/write-report.ts')
    const runs = explored.map(({ report, path }) => ({ report, replay: replayOf(command, path) }))
    await writeReport(command.reportFile, runs, durationMs)
  }
  const hasDiverged = explored.some(({ report }) => report.divergences.length > 0)
  return stop.signal.aborted || hasDiverged ? 1 : 0
}

/** An error of the command line. */
function isUsage(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return /^(USAGE|ERR_PARSE_ARGS)/.test(String(code))
}
