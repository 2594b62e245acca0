/**
 * Implements `npm run test:conformance`: runs Kubernetes' own conformance tests on the embedded cluster, or with `--real`
 * on a real control plane with simulated nodes.
 *
 * Exit codes: 0 if every applicable spec passed, 1 if not, 64 for an invalid command line, 69 without Go and without
 * `e2e.test`, 70 when it could not be built or the cluster failed, 130 when interrupted.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findClientBinary } from '@reeve/client-binaries'
import { GoMissingError, pinnedKubernetesVersion, RealClusterError, showBuildProgress } from '@reeve/real-cluster'
import { startEmbedded, startReal } from './clusters.ts'
import { ensureE2e, findE2e } from './e2e-program.ts'
import { runAll } from './run-specs.ts'
import type { SpecResult } from './spec-report.ts'
import { readSpecs, type Spec, UnknownSpecError } from './specs.ts'
import { summary } from './summary.ts'

const usage = `Usage: npm run test:conformance -- [options]

Runs conformance tests of Kubernetes that need no container.

  --focus <pattern>    only specs whose name matches this regular expression
  --sig <name>         only specs of this SIG, such as cli, or of all; can be repeated
                       (default: api-machinery, architecture, auth)
  --real               run on a real control plane with simulated nodes instead
  --not-applicable     run the specs that are listed as not applicable instead
  --list               print the specs instead of running them
  --if-built           do nothing if e2e.test has not been built yet, which takes about 15 minutes
  --workers <number>   specs to run at the same time (default: 6)
  --timeout <seconds>  time for one spec (default: 720)
  --help               show this text
`

/** The SIGs whose specs have been gone through: each passes or is listed with the reason why it does not apply. */
const CLASSIFIED_SIGS = ['api-machinery', 'architecture', 'auth']

/** An invalid command line. */
class UsageError extends Error {}

const EXIT = { failed: 1, usage: 64, unavailable: 69, broken: 70, interrupted: 130 } as const

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  process.exitCode = exitCodeFor(error)
}

function exitCodeFor(error: unknown): number {
  if (interrupted.signal.aborted) return EXIT.interrupted
  const isUsage = error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  if (isUsage || error instanceof UsageError) {
    console.error(`${error.message}\n\n${usage}`)
    return EXIT.usage
  }
  if (!(error instanceof RealClusterError) && !(error instanceof UnknownSpecError)) throw error
  console.error(`conformance: ${error.message}`)
  return error instanceof GoMissingError ? EXIT.unavailable : EXIT.broken
}

async function main(args: readonly string[]): Promise<number> {
  const options = readArguments(args)
  if (options === 'help') {
    console.log(usage)
    return 0
  }
  const { signal } = interrupted
  if (options.ifBuilt && (await findE2e()) === undefined) {
    console.log('conformance: skipped, because e2e.test has not been built; npm run test:conformance builds it')
    return 0
  }
  const program = await ensureE2e({ onProgress: showBuildProgress(process.stderr, Date.now, 'conformance'), signal })
  const selected = (await readSpecs(program)).filter(options.isSelected)
  const specs = selected.filter(({ notApplicable }) => (notApplicable !== undefined) === options.notApplicable)
  if (options.list) {
    for (const { name } of specs) console.log(name)
    return 0
  }
  const kubectl = await findClientBinary('kubectl')
  if (kubectl === undefined) throw new UsageError('kubectl was not found; install it or put it on the PATH')
  const folder = await mkdtemp(join(tmpdir(), 'reeve-conformance-'))
  await using cluster = await (options.real ? startReal : startEmbedded)({ folder, signal })
  const where = options.real ? 'a real control plane with simulated nodes' : 'the embedded cluster'
  console.log(`conformance: ${specs.length} specs of ${await pinnedKubernetesVersion()} on ${where}; logs in ${folder}`)
  const { workers, timeoutMs } = options
  const { kubeconfig } = cluster
  const shown = showResults(specs.length)
  const run = runAll(specs, { program, kubeconfig, kubectl, timeoutMs, workers, folder, onResult: shown, signal })
  const results = await Promise.race([run, cluster.failed])
  if (signal.aborted) return EXIT.interrupted
  console.log(`\n${summary(selected, results)}`)
  return [...results.values()].some(({ outcome }) => outcome === 'failed') ? EXIT.failed : 0
}

interface Options {
  readonly isSelected: (spec: Spec) => boolean
  readonly real: boolean
  readonly notApplicable: boolean
  readonly list: boolean
  readonly ifBuilt: boolean
  readonly workers: number
  readonly timeoutMs: number
}

function readArguments(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      focus: { type: 'string', default: '' },
      sig: { type: 'string', multiple: true, default: CLASSIFIED_SIGS },
      real: { type: 'boolean', default: false },
      'not-applicable': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      'if-built': { type: 'boolean', default: false },
      workers: { type: 'string', default: '6' },
      timeout: { type: 'string', default: '720' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const isAll = values.sig.includes('all')
  const sigs = new Set(values.sig.map((sig) => `sig-${sig.replace(/^sig-/, '')}`))
  const focus = pattern(values.focus)
  return {
    isSelected: ({ name, sig }) => (isAll || sigs.has(sig)) && focus.test(name),
    real: values.real,
    notApplicable: values['not-applicable'],
    list: values.list,
    ifBuilt: values['if-built'],
    workers: positive('--workers', values.workers),
    timeoutMs: positive('--timeout', values.timeout) * 1_000,
  }
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text)
  } catch (error) {
    throw new UsageError(`--focus is not a valid regular expression: ${error instanceof Error ? error.message : text}`)
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new UsageError(`${name} must be a positive integer, not ${JSON.stringify(text)}`)
}

/** Prints each result as it arrives; failures with their first lines. */
function showResults(total: number): (spec: Spec, result: SpecResult) => void {
  let done = 0
  return ({ name }, { outcome, seconds, message = '' }) => {
    done += 1
    console.log(`${done}/${total} ${outcome} (${Math.round(seconds)} s) ${name}`)
    if (outcome === 'failed')
      console.log(
        message
          .split('\n')
          .map((line) => `    ${line}`)
          .join('\n'),
      )
  }
}
