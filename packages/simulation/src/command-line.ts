/** Reads the command line of `reeve explore`. */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import { PATTERN_NAMES, type PatternName, patternName, patternNumber } from './patterns/pattern-names.ts'

/** One line for each pattern. */
const LISTED = PATTERN_NAMES.map((name) => `  ${patternNumber(name).padEnd(5)} ${name}`).join('\n')

/** What `--help` prints. */
export const USAGE = `Usage: reeve explore [options]
       reeve explore --scenario <file> [options]     an operator in a process of its own, in any language
       reeve explore init --crd <file> --sample <file>

Runs operators in a simulated cluster: without a fault, judging what they do, and then under every fault
that is known to break operators, comparing each run with the one without.

  --operator <name>         only this operator; may be repeated (default: all that are found)
  --module <path>           a module that exports \`exploration\`; may be repeated
                            (default: those under reeve.explorations in the package.json of this
                            folder and of its workspaces)
  --pattern <name>          only this pattern, by name or number; may be repeated or separated by commas
                            (default: all)
  --point <number>          only this point, to replay a divergence
  --quick                   the same as --max-seconds ${EXPLORATION_DEFAULTS.quickSeconds}
  --max-seconds <number>    stop after this time for each operator; what differs most is tried first
                            (default: try everything)
  --max-points <number>     at most this many points of each pattern; one of each kind of request and event
                            first (default: all)
  --budget <number>         points of patterns that are sampled (default: ${EXPLORATION_DEFAULTS.budget})
  --pairs <number|all>      pairs of faults, in an order that meets all kinds first (default: ${EXPLORATION_DEFAULTS.pairs})
  --seed <number>           another seed, other samples (default: ${EXPLORATION_DEFAULTS.seed})
  --threads <number>        runs at the same time (default: one per core; with --point, one)
  --output <text|json>      how to report (default: text)
  --report html             also write a page with every divergence: its trace, both end states, the difference
  --report-file <path>      where (default: exploration.html)
  --version                 show the version
  --help                    show this text

Patterns:
${LISTED}

Examples:
  reeve explore
  reeve explore --operator webapp --quick
  reeve explore --operator webapp --pattern crash-after-write,failed-request
  reeve explore --operator webapp --pattern two-faults --pairs all
  reeve explore --operator webapp --pattern crash-after-write --point 7 --seed 1
  reeve explore --module my-operator/exploration.ts --output json
  reeve explore --operator webapp --quick --report html

Exit code: 0 when every run ended as it should, 1 when one did not, 64 when the command line is invalid.
`

/** A command line that cannot be understood. */
class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE'
}

/** What to do. */
export interface Command {
  readonly operators: readonly string[]
  readonly modules: readonly string[]
  readonly patterns: readonly PatternName[]
  readonly point: number | undefined
  readonly maxPoints: number | undefined
  readonly maxSeconds: number | undefined
  readonly budget: number
  readonly pairs: number | 'all'
  readonly seed: number
  readonly threads: number
  readonly output: 'text' | 'json'
  /** Where to write a page; absent: none is written. */
  readonly reportFile: string | undefined
}

/**
 * Reads the arguments; `help` or `version` when only that is wanted.
 *
 * *Errors*: {@link UsageError}, and what `parseArgs` throws at options that do not exist.
 *
 * @example
 * const command = readArguments(process.argv.slice(2))
 */
export function readArguments(args: readonly string[]): Command | 'help' | 'version' {
  const text = { type: 'string' } as const
  const texts = { type: 'string', multiple: true } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      operator: texts,
      module: texts,
      pattern: texts,
      point: text,
      'max-points': text,
      'max-seconds': text,
      quick: { type: 'boolean', default: false },
      budget: text,
      pairs: text,
      seed: text,
      threads: text,
      output: { type: 'string', default: 'text' },
      report: text,
      'report-file': text,
      version: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.version) return 'version'
  if (positionals.length === 0) throw new UsageError('the command is missing: use reeve explore')
  if (positionals.length > 1 || positionals[0] !== 'explore')
    throw new UsageError(`unknown command "${positionals.join(' ')}"; there is only explore`)
  const { output } = values
  if (output !== 'text' && output !== 'json')
    throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`)
  const { report } = values
  if (report !== undefined && report !== 'html') throw new UsageError(`--report is html, not ${JSON.stringify(report)}`)
  const optional = (name: 'point' | 'max-points' | 'max-seconds' | 'threads') => {
    const value = values[name]
    return value === undefined ? undefined : number(`--${name}`, value)
  }
  return {
    operators: values.operator ?? [],
    modules: values.module ?? [],
    patterns: readPatterns(values.pattern ?? []),
    point: optional('point'),
    maxPoints: optional('max-points'),
    maxSeconds: optional('max-seconds') ?? (values.quick ? EXPLORATION_DEFAULTS.quickSeconds : undefined),
    budget: number('--budget', values.budget ?? String(EXPLORATION_DEFAULTS.budget)),
    pairs: values.pairs === 'all' ? 'all' : number('--pairs', values.pairs ?? String(EXPLORATION_DEFAULTS.pairs)),
    seed: number('--seed', values.seed ?? String(EXPLORATION_DEFAULTS.seed)),
    threads: Math.max(1, optional('threads') ?? (values.point === undefined ? availableParallelism() : 1)),
    output,
    reportFile: values['report-file'] ?? (report === 'html' ? 'exploration.html' : undefined),
  }
}

function readPatterns(given: readonly string[]): readonly PatternName[] {
  return given
    .flatMap((one) => one.split(','))
    .map((reference) => {
      const name = patternName(reference)
      if (name === undefined)
        throw new UsageError(`unknown pattern ${JSON.stringify(reference)}; use one of ${PATTERN_NAMES.join(', ')}`)
      return name
    })
}

function number(name: string, value: string): number {
  const read = Number(value)
  if (!Number.isInteger(read) || read < 0)
    throw new UsageError(`${name} is a whole number, not ${JSON.stringify(value)}`)
  return read
}
