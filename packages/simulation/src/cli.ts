#!/usr/bin/env node
/** `reeve explore`: explores operators from the command line. */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { EXPLORATION_DEFAULTS } from './defaults.ts'
import type { ExplorationReport } from './explore.ts'
import { loadExploration } from './load-exploration.ts'
import { PATTERN_IDS, type PatternId } from './patterns/pattern.ts'
import { divergenceText, reportTable } from './report-text.ts'

const usage = `Usage: reeve explore [options]

Runs operators in a simulated cluster under every fault that is known to break operators, and compares
each run with an undisturbed one.

  --operator <name>         only this operator; may be repeated (default: all that are found)
  --module <path>           a module that exports \`exploration\`; may be repeated
                            (default: operators/*/src/exploration.ts)
  --pattern <T1..T14>       only this pattern; may be repeated or separated by commas (default: all)
  --point <number>          only this point, to replay a divergence
  --max-points <number>     at most this many points of each pattern, spread evenly (default: all)
  --budget <number>         points of patterns that are sampled (default: ${EXPLORATION_DEFAULTS.budget})
  --seed <number>           another seed, other samples (default: ${EXPLORATION_DEFAULTS.seed})
  --threads <number>        runs at the same time (default: one per core)
  --output <text|json>      how to report (default: text)
  --help                    show this text

Examples:
  reeve explore
  reeve explore --operator webapp --pattern T1,T9
  reeve explore --operator webapp --pattern T1 --point 7 --seed 1
  reeve explore --module my-operator/exploration.ts --output json

Exit code: 0 when every run ended as it should, 1 when one did not, 2 when the command line is wrong.
`

/** A command line that cannot be understood. */
class UsageError extends Error {
  readonly code = 'USAGE'
}

interface Command {
  readonly operators: readonly string[]
  readonly modules: readonly string[]
  readonly patterns: readonly PatternId[]
  readonly point: number | undefined
  readonly maxPoints: number | undefined
  readonly budget: number
  readonly seed: number
  readonly threads: number
  readonly output: 'text' | 'json'
}

/** `undefined` when only help is wanted. */
function readArguments(args: readonly string[]): Command | undefined {
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
      budget: text,
      seed: text,
      threads: text,
      output: { type: 'string', default: 'text' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const [verb = 'explore', ...others] = positionals
  if (verb !== 'explore' || others.length > 0)
    throw new UsageError(`unknown command "${positionals.join(' ')}"; there is only explore`)
  const { output } = values
  if (output !== 'text' && output !== 'json')
    throw new UsageError(`--output is text or json, not ${JSON.stringify(output)}`)
  const optional = (name: 'point' | 'max-points') => {
    const value = values[name]
    return value === undefined ? undefined : number(`--${name}`, value)
  }
  return {
    operators: values.operator ?? [],
    modules: values.module ?? [],
    patterns: readPatterns(values.pattern ?? []),
    point: optional('point'),
    maxPoints: optional('max-points'),
    budget: number('--budget', values.budget ?? String(EXPLORATION_DEFAULTS.budget)),
    seed: number('--seed', values.seed ?? String(EXPLORATION_DEFAULTS.seed)),
    threads: Math.max(1, number('--threads', values.threads ?? String(availableParallelism()))),
    output,
  }
}

function readPatterns(given: readonly string[]): readonly PatternId[] {
  const names = given.flatMap((one) => one.split(','))
  return names.map((name) => {
    const id = PATTERN_IDS.find((candidate) => candidate === name)
    if (id === undefined)
      throw new UsageError(`--pattern is one of ${PATTERN_IDS.join(', ')}, not ${JSON.stringify(name)}`)
    return id
  })
}

function number(name: string, value: string): number {
  const read = Number(value)
  if (!Number.isInteger(read) || read < 0)
    throw new UsageError(`${name} is a whole number, not ${JSON.stringify(value)}`)
  return read
}

/** Paths of the modules to explore. */
async function findModules({ modules, operators }: Command): Promise<readonly string[]> {
  const paths = (modules.length > 0 ? modules : globSync('operators/*/src/exploration.ts').toSorted()).map((path) =>
    resolve(path),
  )
  if (paths.length === 0) throw new UsageError('no operators/*/src/exploration.ts here: name one with --module')
  if (operators.length === 0) return paths
  const named = await Promise.all(
    paths.map(async (path) => ({ path, name: (await loadExploration(path)).operator.name })),
  )
  const unknown = operators.find((name) => !named.some((candidate) => candidate.name === name))
  if (unknown !== undefined)
    throw new UsageError(`no operator "${unknown}"; there is ${named.map(({ name }) => name).join(', ')}`)
  return named.filter(({ name }) => operators.includes(name)).map(({ path }) => path)
}

async function exploreAll(command: Command, signal: AbortSignal): Promise<readonly ExplorationReport[]> {
  // Loaded only now: help and mistakes in the command line need not wait for a whole cluster to be imported.
  const { exploreInThreads } = await import('./explore-in-threads.ts')
  const reports: ExplorationReport[] = []
  const isTerminal = process.stderr.isTTY
  for (const path of await findModules(command)) {
    const { seed, budget, threads, patterns, point, maxPoints } = command
    const report = await exploreInThreads(path, {
      seed,
      budget,
      threads,
      signal,
      ...(patterns.length > 0 && { patterns }),
      ...(point !== undefined && { point }),
      ...(maxPoints !== undefined && { maxPoints }),
      onProgress: ({ pattern, done, total }) => {
        if (isTerminal) process.stderr.write(`\r${pattern.padEnd(4)} ${done} of ${total} runs `)
      },
    })
    if (isTerminal) process.stderr.write('\r\x1b[K')
    reports.push(report)
  }
  return reports
}

function print(reports: readonly ExplorationReport[], command: Command, durationMs: number): void {
  const { output, budget, modules } = command
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify({ reports, durationMs }, undefined, 2)}\n`)
    return
  }
  for (const [index, { operator, divergences }] of reports.entries()) {
    const module = modules[index]
    const replay = { budget, ...(module !== undefined && { module }) }
    for (const divergence of divergences) process.stdout.write(`${divergenceText(divergence, operator, replay)}\n\n`)
  }
  const runs = reports.reduce((sum, report) => sum + report.runs, 0)
  const found = reports.reduce((sum, report) => sum + report.divergences.length, 0)
  const seconds = (durationMs / 1_000).toFixed(1)
  process.stdout.write(`${reportTable(reports)}\n\n${runs} runs in ${seconds} s, ${found} divergences\n`)
}

async function main(): Promise<void> {
  const command = readArguments(process.argv.slice(2))
  if (command === undefined) {
    process.stdout.write(usage)
    return
  }
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const startedMs = performance.now()
  const reports = await exploreAll(command, stop.signal)
  print(reports, command, Math.round(performance.now() - startedMs))
  process.exitCode = stop.signal.aborted || reports.some(({ divergences }) => divergences.length > 0) ? 1 : 0
}

try {
  await main()
} catch (error) {
  const isUsage = error instanceof Error && 'code' in error && /^(USAGE|ERR_PARSE_ARGS)/.test(String(error.code))
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${usage}` : ''}`)
  process.exitCode = isUsage ? 2 : 1
}
