/** `reeve explore --scenario`: explores an operator in a process of its own from the command line. */
import { appendFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ProgressLog } from '../report/progress-log.ts'
import { divergenceText, missedText, type ReplayOptions, reportTable, summaryLine } from '../report/report-text.ts'
import type { ProcessReport } from './explore-process.ts'
import { PROCESS_USAGE, type ProcessCommandLine, readProcessArguments } from './process-command-line.ts'
import { ScenarioError } from './scenario-fields.ts'

/** How often a line of progress may be due. */
const TICK_MS = 1_000

const EXIT_DIVERGED = 1
const EXIT_USAGE = 64
const EXIT_INTERRUPTED = 130

/** Runs the command and returns the exit code. */
export async function runProcessCommand(args: readonly string[]): Promise<number> {
  let command: ProcessCommandLine
  try {
    command = readProcessArguments(args)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${PROCESS_USAGE}`)
    return EXIT_USAGE
  }
  try {
    if (command.type === 'help') {
      process.stdout.write(PROCESS_USAGE)
      return 0
    }
    if (command.type === 'init') {
      const { writeScenario } = await import('./write-scenario.ts')
      process.stdout.write(await writeScenario(command))
      return 0
    }
    return await explore(command)
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error
    process.stderr.write(`${error.message}\n`)
    return EXIT_USAGE
  }
}

async function explore(command: Extract<ProcessCommandLine, { type: 'explore' }>): Promise<number> {
  // Loaded only now: help and mistakes in the command line need not wait for a whole cluster to be imported.
  const { exploreProcess } = await import('./explore-process.ts')
  const { path, patterns, only, parallel, maxSeconds, logs } = command
  const stop = new AbortController()
  const interrupt = () => {
    // The second one ends it at once; processes of the operator are ended when this one exits.
    if (stop.signal.aborted) process.exit(EXIT_INTERRUPTED)
    stop.abort(new Error('interrupted'))
    process.stderr.write('\ninterrupted: stopping the operator; once more ends everything at once\n')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
  const log = new ProgressLog((text) => process.stderr.write(text), {
    isTerminal: process.stderr.isTTY,
    now: () => performance.now(),
  })
  if (logs !== undefined) await mkdir(logs, { recursive: true })
  const ticking = setInterval(() => log.tick(), TICK_MS)
  const startedMs = performance.now()
  try {
    const report = await exploreProcess({
      path,
      parallel,
      maxSeconds,
      signal: stop.signal,
      ...(command.command !== undefined && { command: command.command }),
      ...(patterns.length > 0 && { patterns }),
      ...(only !== undefined && { only }),
      ...(logs !== undefined && {
        onLine: (instance, line) => appendFileSync(join(logs, `${instance}.log`), `${line}\n`),
      }),
      onProgress: (progress) => log.update('process', progress),
    })
    log.end()
    const durationMs = Math.round(performance.now() - startedMs)
    print(report, command, durationMs)
    if (command.reportFile !== undefined) {
      const { writeReport } = await import('../report/write-report.ts')
      await writeReport(
        command.reportFile,
        [{ report, replay: replayOf(command), unconfirmed: report.unconfirmed }],
        durationMs,
      )
    }
    if (stop.signal.aborted) return EXIT_INTERRUPTED
    return report.divergences.length > 0 ? EXIT_DIVERGED : 0
  } finally {
    clearInterval(ticking)
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, interrupt)
  }
}

/** What the commands that replay a point need. */
function replayOf({ path, command }: Extract<ProcessCommandLine, { type: 'explore' }>): ReplayOptions {
  const given = command === undefined ? '' : ` --command '${command.replaceAll("'", `'\\''`)}'`
  return { process: `reeve explore --scenario ${path}${given}` }
}

function print(
  report: ProcessReport,
  command: Extract<ProcessCommandLine, { type: 'explore' }>,
  durationMs: number,
): void {
  if (command.output === 'json') {
    process.stdout.write(`${JSON.stringify({ report, durationMs }, undefined, 2)}\n`)
    return
  }
  const replay = replayOf(command)
  for (const divergence of report.divergences) {
    process.stdout.write(`${divergenceText(divergence, report.operator, replay)}\n`)
    const needed = divergence.steps.length === 0 ? '' : `  needs the steps: ${divergence.steps.join(', ')}\n`
    process.stdout.write(`${needed}\n`)
  }
  for (const { pattern, label, message, isCutOff } of report.unconfirmed) {
    const why = isCutOff ? 'seen once, no time to repeat it' : 'seen once, not confirmed'
    process.stdout.write(`${why}: ${pattern}: ${label}: ${message}\n`)
  }
  process.stdout.write(`${reportTable([report])}\n${missedText([report])}\n${summaryLine([report], durationMs)}\n`)
}
