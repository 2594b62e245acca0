/** Reads the command line of `reeve explore`. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { PATTERN_NAMES, type PatternName, patternName, patternNumber } from './patterns/pattern-names.ts'

/** Runs of processes at the same time for each core, as they mostly wait, and while cores are idle. */
const PROCESSES_PER_CORE = 3
const MAX_PROCESSES_PER_CORE = 10

const REPORT_FILE = 'exploration.html'
const QUICK_BUDGET = '60s'
/** Of processes, whose runs take seconds. */
const PROCESS_BUDGET = '10m'

/** One line for each pattern. */
const LISTED = PATTERN_NAMES.map((name) => `  ${patternNumber(name).padEnd(5)} ${name}`).join('\n')

/** What `--help` prints. */
export const USAGE = `Usage: reeve explore [options]                      operators that modules describe
       reeve explore --scenario <file> [options]    an operator in a process, in any language
       reeve explore init --crd <file> --sample <file> [--command <command>] > scenario.yaml

Runs operators in a simulated cluster: without a fault, judging what they do, and then under every fault
that is known to break operators, comparing each run with the one without.

What is explored:
  --operator <name>         only this operator; may be repeated (default: all that are found)
  --module <path>           a module that exports \`exploration\`; may be repeated
                            (default: those under reeve.explorations in the package.json of this
                            folder and of its workspaces)
  --scenario <file>         what users do with an operator that is a process; reeve explore init writes a first
                            one. Its time is real: a divergence is reported when it shows three times
  --command <command>       how to start that operator (default: operator.command of the file). It finds the
                            cluster through KUBECONFIG; $REEVE_PORT_1 to $REEVE_PORT_4 are free ports

How much is tried:
  --budget <duration>       try points for this time, such as 90s or 10m, what differs most first (default:
                            everything; with --scenario ${PROCESS_BUDGET}, and then some more to repeat and shorten what
                            was found). With several operators, for each of them
  --quick                   the same as --budget ${QUICK_BUDGET}
  --points <number>         at most this many points of each pattern; one of each kind of request and event
                            first (default: all)
  --samples <number>        points of patterns that are sampled (default: ${EXPLORATION_DEFAULTS.samples})
  --pairs <number|all>      pairs of faults, in an order that meets all kinds first (default: ${EXPLORATION_DEFAULTS.pairs})
  --pattern <name>          only this pattern, by name or number; may be repeated or separated by commas
                            (default: all)
  --parallel <number>       runs at the same time (default: one for each core; with --point, one; with --scenario,
                            ${PROCESSES_PER_CORE} for each core, up to ${MAX_PROCESSES_PER_CORE} while cores are idle)

To replay a divergence:
  --point <number>          only this point
  --seed <number>           another seed, other samples (default: ${EXPLORATION_DEFAULTS.seed})
  --only <shape>            with --scenario, instead of both: only points of this shape

What is reported:
  --output <text|json>      how to report (default: text)
  --report html             also write a page with every divergence: its trace, both end states, the difference
  --report-file <path>      where (default: ${REPORT_FILE})
  --logs <folder>           with --scenario: write what the instances print to files in this folder
  --version                 show the version
  --help                    show this text

Patterns:
${LISTED}

Examples:
  reeve explore
  reeve explore --operator webapp --budget 5m
  reeve explore --operator webapp --pattern crash-after-write,failed-request
  reeve explore --operator webapp --pattern two-faults --pairs all
  reeve explore --operator webapp --pattern crash-after-write --point 7 --seed 1
  reeve explore --module my-operator/exploration.ts --output json
  reeve explore init --crd crd.yaml --sample sample.yaml --command './manager --leader-elect=false' > scenario.yaml
  reeve explore --scenario scenario.yaml --budget 2m --pattern crash-after-write,stale-view
  reeve explore --scenario scenario.yaml --report html

Exit code: 0 when every run ended as it should, 1 when one did not or no point was run, 64 when the command line or
the scenario is invalid, 130 when it was interrupted. Ctrl-C ends the runs and reports what was found so far; a second one ends
everything at once.
`

/** A command line that cannot be understood. */
class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE'
}

/** What to explore, how much of it, and how to report it. */
export interface ExploreCommand {
  readonly type: 'explore'
  /** The operators of modules, or one in a process. */
  readonly subject:
    | { readonly type: 'modules'; readonly modules: readonly string[]; readonly operators: readonly string[] }
    | {
        readonly type: 'scenario'
        readonly path: string
        readonly command: string | undefined
        readonly logs: string | undefined
      }
  /** Options of every exploration; what is absent has its default. */
  readonly options: {
    readonly patterns?: readonly PatternName[]
    readonly point?: number
    readonly only?: string
    readonly maxPoints?: number
    readonly maxSeconds?: number
    readonly samples: number
    readonly pairs: number | 'all'
    readonly seed: number
  }
  /** Runs at the same time: at least, and at most where the machine has time to spare. */
  readonly parallel: { readonly min: number; readonly max: number }
  readonly output: 'text' | 'json'
  /** Where to write a page; absent: none is written. */
  readonly reportFile: string | undefined
}

/** What to do. */
export type Command =
  | ExploreCommand
  | { readonly type: 'init'; readonly crd: string; readonly sample: string; readonly command: string | undefined }
  | { readonly type: 'help' }
  | { readonly type: 'version' }

/**
 * Reads the arguments after `explore`.
 *
 * *Errors*: {@link UsageError}, and what `parseArgs` throws at options that do not exist.
 *
 * @example
 * const command = readArguments(['--operator', 'webapp', '--budget', '30s'])
 */
export function readArguments(args: readonly string[]): Command {
  const text = { type: 'string' } as const
  const texts = { type: 'string', multiple: true } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      operator: texts,
      module: texts,
      scenario: text,
      command: text,
      crd: text,
      sample: text,
      budget: text,
      quick: { type: 'boolean' },
      points: text,
      samples: text,
      pairs: text,
      pattern: texts,
      parallel: text,
      point: text,
      seed: text,
      only: text,
      output: text,
      report: text,
      'report-file': text,
      logs: text,
      version: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return { type: 'help' }
  if (values.version) return { type: 'version' }
  const [first, ...others] = positionals
  const unexpected = first === 'init' ? others[0] : first
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}"`)
  const { command, crd, sample, scenario: path, output = 'text', report } = values
  if (first === 'init') {
    if (crd === undefined || sample === undefined) throw new UsageError('reeve explore init needs --crd and --sample')
    return { type: 'init', crd, sample, command }
  }
  const isProcess = path !== undefined
  const misplaced = isProcess
    ? (['operator', 'module', 'point', 'seed'] as const)
    : (['command', 'only', 'logs'] as const)
  for (const name of [...misplaced, 'crd', 'sample'] as const) {
    if (values[name] === undefined) continue
    const only = name === 'crd' || name === 'sample' ? 'reeve explore init' : 'an operator in a process: use --scenario'
    throw new UsageError(isProcess ? `--${name} does not go with --scenario` : `--${name} is for ${only}`)
  }
  if (output !== 'text' && output !== 'json')
    throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`)
  if (report !== undefined && report !== 'html') throw new UsageError(`--report is html, not ${JSON.stringify(report)}`)
  const { budget = values.quick ? QUICK_BUDGET : isProcess ? PROCESS_BUDGET : undefined, only } = values
  const patterns = (values.pattern ?? []).flatMap((one) => one.split(',')).map(pattern)
  const point = optional('--point', values.point)
  const maxPoints = optional('--points', values.points)
  return {
    type: 'explore',
    subject: isProcess
      ? { type: 'scenario', path, command, logs: values.logs }
      : { type: 'modules', modules: values.module ?? [], operators: values.operator ?? [] },
    options: {
      ...(patterns.length > 0 && { patterns }),
      ...(point !== undefined && { point }),
      ...(only !== undefined && { only }),
      ...(maxPoints !== undefined && { maxPoints }),
      ...(budget !== undefined && { maxSeconds: seconds(budget) }),
      samples: optional('--samples', values.samples) ?? EXPLORATION_DEFAULTS.samples,
      pairs: values.pairs === 'all' ? 'all' : (optional('--pairs', values.pairs) ?? EXPLORATION_DEFAULTS.pairs),
      seed: optional('--seed', values.seed) ?? EXPLORATION_DEFAULTS.seed,
    },
    parallel: parallel(values.parallel, isProcess, point),
    output,
    reportFile: values['report-file'] ?? (report === 'html' ? REPORT_FILE : undefined),
  }
}

function parallel(given: string | undefined, isProcess: boolean, point: number | undefined) {
  const cores = availableParallelism()
  if (given !== undefined) {
    if (!/^[1-9]\d?$/.test(given)) throw new UsageError(`--parallel is a number from 1 to 99, not "${given}"`)
    return { min: Number(given), max: Number(given) }
  }
  if (isProcess) return { min: PROCESSES_PER_CORE * cores, max: MAX_PROCESSES_PER_CORE * cores }
  // Each thread repeats the undisturbed runs.
  const threads = point === undefined ? cores : 1
  return { min: threads, max: threads }
}

function seconds(duration: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(s|m|h)$/.exec(duration) ?? []
  if (digits === '') throw new UsageError(`--budget is a duration such as 90s or 10m, not "${duration}"`)
  return Number(digits) * ({ s: 1, m: 60, h: 3_600 }[unit] ?? 1)
}

function pattern(reference: string): PatternName {
  const name = patternName(reference)
  if (name === undefined)
    throw new UsageError(`unknown pattern ${JSON.stringify(reference)}; use one of ${PATTERN_NAMES.join(', ')}`)
  return name
}

function optional(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const read = Number(value)
  if (!Number.isInteger(read) || read < 0)
    throw new UsageError(`${name} is a whole number, not ${JSON.stringify(value)}`)
  return read
}
