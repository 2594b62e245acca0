/** Runs a few specs in one process of `e2e.test`, and stops it when a spec takes too long. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { readReport, type SpecResult } from './spec-report.ts'
import type { Spec } from './specs.ts'

/** How to run specs. */
export interface SpecProcessOptions {
  readonly program: string
  readonly kubeconfig: string
  readonly kubectl: string
  /** Time for one spec; then it is interrupted and has failed. */
  readonly timeoutMs: number
  /** Paths of the report and of the output to write. */
  readonly reportPath: string
  readonly outputPath: string
  readonly onStarted: (spec: Spec) => void
  readonly onEnded: (spec: Spec) => void
  readonly signal: AbortSignal
}

/** Time for an interrupted spec to clean up. */
const CLEAN_UP_MS = 60_000

/** The results of the specs that ran; those missing did not run because one before them was interrupted. */
export async function runSpecs(specs: readonly Spec[], options: SpecProcessOptions): Promise<Map<string, SpecResult>> {
  const { program, timeoutMs, reportPath, signal } = options
  const child = spawn(program, programArguments(specs, options), { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  const output = createWriteStream(options.outputPath)
  child.stderr.pipe(output, { end: false })
  let current: { readonly spec: Spec; readonly timer: NodeJS.Timeout } | undefined
  let slow: Spec | undefined
  let cleanUp: NodeJS.Timeout | undefined
  const interrupt = () => {
    child.kill('SIGINT')
    cleanUp ??= setTimeout(() => child.kill('SIGKILL'), CLEAN_UP_MS)
  }
  const end = () => {
    if (current === undefined) return
    clearTimeout(current.timer)
    options.onEnded(current.spec)
    current = undefined
  }
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.write(`${line}\n`)
    const started = specs.find(({ name }) => line.startsWith(name))
    if (started !== undefined && current?.spec !== started) {
      end()
      const timer = setTimeout(() => {
        slow = started
        interrupt()
      }, timeoutMs)
      current = { spec: started, timer }
      options.onStarted(started)
    } else if (line.startsWith('• ')) end()
  })
  signal.addEventListener('abort', interrupt)
  try {
    await exited
  } finally {
    signal.removeEventListener('abort', interrupt)
    clearTimeout(cleanUp)
    child.kill('SIGKILL')
    end()
    output.end()
  }
  const results = await resultsOf(reportPath, specs)
  if (slow !== undefined) {
    const message = `took longer than ${timeoutMs / 1_000} s\n${results.get(slow.name)?.message ?? ''}`
    results.set(slow.name, { outcome: 'failed', seconds: timeoutMs / 1_000, message })
  }
  return results
}

async function resultsOf(reportPath: string, specs: readonly Spec[]): Promise<Map<string, SpecResult>> {
  try {
    const results = readReport(JSON.parse(await readFile(reportPath, 'utf8')), new Set(specs.map(({ name }) => name)))
    // It lists all seven thousand specs of the program, most of which were skipped.
    await rm(reportPath)
    return results
  } catch (error) {
    // Killed before it wrote the report, or while it did.
    if (error instanceof SyntaxError) return new Map()
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return new Map()
    throw error
  }
}

function programArguments(specs: readonly Spec[], options: SpecProcessOptions): string[] {
  const names = specs.map(({ name }) => escapePattern(name))
  return [
    `--kubeconfig=${options.kubeconfig}`,
    `--kubectl-path=${options.kubectl}`,
    '--provider=skeleton',
    '--dump-logs-on-failure=false',
    '--ginkgo.v',
    '--ginkgo.no-color',
    `--ginkgo.focus=(${names.join('|')})$`,
    '--ginkgo.timeout=24h',
    `--ginkgo.grace-period=${CLEAN_UP_MS / 2_000}s`,
    `--ginkgo.json-report=${options.reportPath}`,
  ]
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
