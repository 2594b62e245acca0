/** Reads the command line of `npm run fuzz`. */
import { parseArgs } from 'node:util'
import { DEFAULT_MS_PER_KIB } from './defaults.ts'

const DEFAULT_MINUTES = 1
const DEFAULT_SEED = 1

/** What `--help` prints. */
export const USAGE = `Usage: npm run fuzz -- [target...] [options]

Feeds parsers of untrusted input with generated and mutated inputs. An input is a finding when the parser
crashes (fails with anything but its documented error), breaks a law, hangs, needs more than its share of CPU
time or memory, or changes a shared prototype.

  --list                    show all targets
  --minutes <number>        how long to search with each target (default: ${DEFAULT_MINUTES}; fractions are fine)
  --runs <number>           end after this many inputs (default: no bound)
  --seed <number>           other seed, other inputs (default: ${DEFAULT_SEED})
  --input <file>            only run this input, such as a saved finding
  --ms-per-kib <number>     CPU time allowed per KiB of input (default: ${DEFAULT_MS_PER_KIB})
  --help                    show this text

Without a target all of them are run, one after the other. Findings are saved in .reeve/fuzz/findings, made as
small as possible in a minute; inputs that led to new outcomes are kept in .reeve/fuzz/corpus for later runs, and
the slowest input of each target in .reeve/fuzz/slowest.

Examples:
  npm run fuzz -- --list
  npm run fuzz -- kubeconfig --minutes 5
  npm run fuzz -- json-patch strategic-merge-patch --minutes 0.5 --seed 7
  npm run fuzz -- cel --input .reeve/fuzz/findings/cel-crash-1a2b3c4d

Exit code: 0 when nothing was found, 1 when something was, 2 when the command line is wrong.
`

/** A command line that cannot be understood. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'USAGE'
}

/** What to do. */
export interface Command {
  /** Empty for all. */
  readonly targets: readonly string[]
  readonly isList: boolean
  readonly maxMs: number
  readonly maxRuns: number
  readonly seed: number
  readonly input: string | undefined
  readonly msPerKib: number
}

/**
 * Reads the arguments; `undefined` when only help is requested.
 *
 * *Errors*: {@link UsageError}, and what `parseArgs` throws at options that do not exist.
 *
 * @example
 * const command = readArguments(['cel', '--minutes', '5'])
 */
export function readArguments(args: readonly string[]): Command | undefined {
  const text = { type: 'string' } as const
  const isSet = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { list: isSet, minutes: text, runs: text, seed: text, input: text, 'ms-per-kib': text, help: isSet },
  })
  if (values.help) return undefined
  if (values.input !== undefined && positionals.length !== 1) {
    throw new UsageError('--input needs exactly one target, the one to run it with')
  }
  return {
    targets: positionals,
    isList: values.list,
    maxMs: positive('--minutes', values.minutes ?? DEFAULT_MINUTES) * 60_000,
    maxRuns: values.runs === undefined ? Number.POSITIVE_INFINITY : positive('--runs', values.runs),
    seed: positive('--seed', values.seed ?? DEFAULT_SEED),
    input: values.input,
    msPerKib: positive('--ms-per-kib', values['ms-per-kib'] ?? DEFAULT_MS_PER_KIB),
  }
}

function positive(name: string, value: string | number): number {
  const number = Number(value)
  if (number > 0 && Number.isFinite(number)) return number
  throw new UsageError(`${name} must be a number above 0, not ${JSON.stringify(value)}`)
}
