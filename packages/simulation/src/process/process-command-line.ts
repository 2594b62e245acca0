/** Reads the command line of `reeve explore` for operators in processes of their own. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { PATTERN_NAMES, type PatternName, patternName } from '../patterns/pattern-names.ts'

/** Runs at the same time for each core: they mostly wait. */
const RUNS_PER_CORE = 3
/** The same while cores are idle. */
const MAX_RUNS_PER_CORE = 10

const DEFAULT_BUDGET = '10m'
const DEFAULT_REPORT_FILE = 'exploration.html'

/** What `--help` prints. */
export const PROCESS_USAGE = `Usage: reeve explore --scenario <file> [options]
       reeve explore init --crd <file> --sample <file> [--command <command>]

Runs an operator in any language as a process on an embedded cluster: without a fault, judging what it does, and
then under every fault that is known to break operators, comparing each run with the one without. A divergence
is reported when it shows three times.

  --scenario <file>         what users do with the operator; reeve explore init writes a first one
  --command <command>       how to start the operator (default: operator.command of the file). It finds the
                            cluster through KUBECONFIG; $REEVE_PORT_1 to $REEVE_PORT_4 are free ports
  --budget <duration>       try points for this time, such as 90s or 10m, what differs most first; then some
                            more to repeat and shorten what was found (default: ${DEFAULT_BUDGET})
  --pattern <name>          only this pattern, by name or number; may be repeated or separated by commas
  --only <shape>            only points of this shape, to replay a divergence
  --parallel <number>       runs at the same time (default: ${RUNS_PER_CORE} for each core, up to ${MAX_RUNS_PER_CORE} while cores are idle)
  --logs <folder>           write what the instances print to files in this folder
  --output <text|json>      how to report (default: text)
  --report html             also write a page with every divergence: its trace, both end states, the difference
  --report-file <path>      where (default: ${DEFAULT_REPORT_FILE})
  --help                    show this text

Examples:
  reeve explore init --crd crd.yaml --sample sample.yaml --command './manager --leader-elect=false' > scenario.yaml
  reeve explore --scenario scenario.yaml
  reeve explore --scenario scenario.yaml --budget 2m --pattern crash-after-write,stale-view
  reeve explore --scenario scenario.yaml --command 'python operator.py' --output json
  reeve explore --scenario scenario.yaml --report html

Exit code: 0 when every run ended as it should, 1 when one did not, 64 when the command line or the scenario is
invalid, 130 when it was interrupted. Ctrl-C stops the operator and reports what was found so far; a second one ends
everything at once.
`

/** A command line that cannot be understood. */
class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE'
}

/** What to do. */
export type ProcessCommandLine =
  | {
      readonly type: 'explore'
      readonly path: string
      readonly command: string | undefined
      readonly maxSeconds: number
      readonly patterns: readonly PatternName[]
      readonly only: string | undefined
      readonly parallel: { readonly min: number; readonly max: number }
      readonly logs: string | undefined
      readonly output: 'text' | 'json'
      readonly reportFile: string | undefined
    }
  | { readonly type: 'init'; readonly crd: string; readonly sample: string; readonly command: string | undefined }
  | { readonly type: 'help' }

/** Whether the arguments are about an operator in a process of its own. */
export function isAboutProcess(args: readonly string[]): boolean {
  const isExplore = args[0] === 'explore'
  return isExplore && (args[1] === 'init' || args.some((one) => /^--(scenario|command)(=|$)/.test(one)))
}

/**
 * Reads the arguments.
 *
 * *Errors*: {@link UsageError}, and what `parseArgs` throws at options that do not exist.
 */
export function readProcessArguments(args: readonly string[]): ProcessCommandLine {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      scenario: text,
      command: text,
      crd: text,
      sample: text,
      budget: text,
      pattern: { type: 'string', multiple: true },
      only: text,
      parallel: text,
      logs: text,
      output: text,
      report: text,
      'report-file': text,
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return { type: 'help' }
  const { command } = values
  if (positionals[1] === 'init') {
    if (values.crd === undefined || values.sample === undefined)
      throw new UsageError('reeve explore init needs --crd and --sample')
    return { type: 'init', crd: values.crd, sample: values.sample, command }
  }
  if (positionals.length > 1) throw new UsageError(`unexpected argument "${positionals[1]}"`)
  if (values.scenario === undefined)
    throw new UsageError('--scenario is missing: reeve explore init writes a first scenario')
  const { output = 'text', parallel } = values
  if (output !== 'text' && output !== 'json')
    throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`)
  const { report } = values
  if (report !== undefined && report !== 'html') throw new UsageError(`--report is html, not ${JSON.stringify(report)}`)
  if (parallel !== undefined && !/^[1-9]\d?$/.test(parallel))
    throw new UsageError(`--parallel is a number from 1 to 99, not "${parallel}"`)
  return {
    type: 'explore',
    path: values.scenario,
    command,
    maxSeconds: seconds(values.budget ?? DEFAULT_BUDGET),
    patterns: (values.pattern ?? []).flatMap((one) => one.split(',')).map(pattern),
    only: values.only,
    parallel: parallelOf(parallel),
    logs: values.logs,
    output,
    reportFile: values['report-file'] ?? (report === 'html' ? DEFAULT_REPORT_FILE : undefined),
  }
}

function parallelOf(given: string | undefined): { readonly min: number; readonly max: number } {
  const cores = availableParallelism()
  if (given === undefined) return { min: RUNS_PER_CORE * cores, max: MAX_RUNS_PER_CORE * cores }
  return { min: Number(given), max: Number(given) }
}

function seconds(duration: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(s|m|h)$/.exec(duration) ?? []
  if (digits === '') throw new UsageError(`--budget is a duration such as 90s or 10m, not "${duration}"`)
  return Number(digits) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 1)
}

function pattern(reference: string): PatternName {
  const name = patternName(reference)
  if (name === undefined) throw new UsageError(`unknown pattern "${reference}"; use one of ${PATTERN_NAMES.join(', ')}`)
  return name
}
