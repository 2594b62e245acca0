/** @module `reeve explore`: explores operators from the command line. */
import { appendFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, type ExploreCommand, readArguments, USAGE } from './command-line.ts'
import type { ExploreOptions } from './explore.ts'
import type { ExplorationReport } from './report/exploration-report.ts'
import { ProgressLog } from './report/progress-log.ts'
import { divergencesText, missedText, type ReplayOptions, reportTable, summaryLine } from './report/report-text.ts'

/** How often a line of progress may be due. */
const TICK_MS = 1_000

const EXIT_FAILED = 1
/** An invalid command line or scenario, as in the operators. */
const EXIT_USAGE = 64
const EXIT_INTERRUPTED = 130

/** An operator that the command line chose. */
interface Subject {
  readonly name: string
  /** What the commands that replay a point of it need. */
  readonly replay: ReplayOptions
  explore(options: ExploreOptions): Promise<ExplorationReport>
}

/** A report, and what the commands that replay its points need. */
interface Explored {
  readonly report: ExplorationReport
  readonly replay: ReplayOptions
}

/**
 * Explores what the arguments say, and returns the exit code.
 *
 * @example
 * process.exitCode = await exploreCommand(['--operator', 'webapp', '--quick'])
 */
export async function exploreCommand(args: readonly string[]): Promise<number> {
  try {
    return await perform(readArguments(args))
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    const isUsage = /^(USAGE|ERR_PARSE_ARGS)/.test(String(code))
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${USAGE}` : ''}`)
    return isUsage || code === 'SCENARIO' ? EXIT_USAGE : EXIT_FAILED
  }
}

async function perform(command: Command): Promise<number> {
  switch (command.type) {
    case 'help':
      process.stdout.write(USAGE)
      return 0
    case 'version':
      process.stdout.write(
        `${JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')).version}\n`,
      )
      return 0
    case 'init': {
      const { writeScenario } = await import('./process/write-scenario.ts')
      process.stdout.write(await writeScenario(command))
      return 0
    }
    case 'explore':
      return explore(command)
  }
}

async function explore(command: ExploreCommand): Promise<number> {
  const stop = new AbortController()
  const interrupt = () => {
    // Processes of the operator are ended when this one exits.
    if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED)
    stop.abort(new Error('interrupted'))
    process.stderr.write('\ninterrupted: ending the runs; once more ends everything at once\n')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const log = new ProgressLog((text) => process.stderr.write(text), {
    isTerminal: process.stderr.isTTY,
    now: () => performance.now(),
  })
  const ticking = setInterval(() => log.tick(), TICK_MS)
  const startedMs = performance.now()
  const explored: Explored[] = []
  try {
    for (const { name, replay, explore } of await subjects(command)) {
      if (stop.signal.aborted) break
      const report = await explore({
        ...command.options,
        signal: stop.signal,
        onProgress: (progress) => log.update(name, progress),
      })
      explored.push({ report, replay })
    }
  } finally {
    clearInterval(ticking)
    log.end()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, interrupt)
  }
  const durationMs = Math.round(performance.now() - startedMs)
  process.stdout.write(command.output === 'json' ? jsonOf(explored, durationMs) : textOf(explored, durationMs))
  if (command.reportFile !== undefined) {
    // Loaded only now: the console is not needed for anything else.
    const { writeReport } = await import('./report/write-report.ts')
    await writeReport(command.reportFile, explored, durationMs)
  }
  if (stop.signal.aborted) return EXIT_INTERRUPTED
  if (explored.some(({ report }) => report.divergences.length > 0)) return EXIT_FAILED
  const untried = explored.filter(({ report }) => triedNothing(report)).map(({ report }) => report.operator)
  if (untried.length === 0) return 0
  process.stderr.write(`nothing was tried of ${untried.join(', ')}: raise --budget, or choose a point that exists\n`)
  return EXIT_FAILED
}

/** Whether there are points but none was run: without a fault there is nothing that the operator has passed. */
function triedNothing({ patterns }: ExplorationReport): boolean {
  const faults = patterns.filter(({ pattern }) => pattern !== 'undisturbed')
  const asked = faults.length > 0 ? faults : patterns
  return asked.some(({ points }) => points > 0) && asked.every(({ explored }) => explored === 0)
}

/** What is explored is loaded only now: help and mistakes in the command line need not wait for a whole cluster. */
async function subjects({ subject, options, parallel }: ExploreCommand): Promise<readonly Subject[]> {
  if (subject.type === 'modules') {
    const { exploreInThreads } = await import('./worker-pool.ts')
    const { findExplorations } = await import('./exploration-modules.ts')
    const found = await findExplorations(process.cwd(), subject)
    return found.map(({ path, operator }) => {
      const module = subject.modules.find((given) => resolve(given) === path)
      return {
        name: operator,
        replay: { samples: options.samples, ...(module !== undefined && { module }) },
        explore: (given) => exploreInThreads(path, { ...given, threads: parallel.max }),
      }
    })
  }
  const { exploreProcess } = await import('./process/explore-process.ts')
  const { path, command, logs } = subject
  if (logs !== undefined) await mkdir(logs, { recursive: true })
  const start = command === undefined ? '' : ` --command '${command.replaceAll("'", `'\\''`)}'`
  return [
    {
      name: 'process',
      replay: { process: `reeve explore --scenario ${path}${start}` },
      explore: (given) =>
        exploreProcess({
          ...given,
          path,
          parallel,
          ...(command !== undefined && { command }),
          ...(logs !== undefined && {
            onLine: (instance, line) => appendFileSync(join(logs, `${instance}.log`), `${line}\n`),
          }),
        }),
    },
  ]
}

function jsonOf(explored: readonly Explored[], durationMs: number): string {
  return `${JSON.stringify({ reports: explored.map(({ report }) => report), durationMs }, undefined, 2)}\n`
}

function textOf(explored: readonly Explored[], durationMs: number): string {
  const reports = explored.map(({ report }) => report)
  const divergences = explored.map(({ report, replay }) => divergencesText(report.divergences, report.operator, replay))
  const unconfirmed = reports.flatMap(({ unconfirmed = [] }) =>
    unconfirmed.map(({ pattern, label, message, isCutOff }) => {
      const why = isCutOff ? 'seen once, no time to repeat it' : 'seen once, not confirmed'
      return `${why}: ${pattern}: ${label}: ${message}\n`
    }),
  )
  const summary = `${reportTable(reports)}\n${missedText(reports)}\n${summaryLine(reports, durationMs)}\n`
  return [...divergences, ...unconfirmed, summary].join('')
}
