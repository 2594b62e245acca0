/** `npm run fuzz`: feeds parsers of untrusted input until the time is over. */
import { readFileSync } from 'node:fs'
import { type Command, readArguments, USAGE, UsageError } from './command-line.ts'
import { FuzzThread } from './fuzz-thread.ts'
import { findTargets, loadTarget, type TargetFile } from './load-target.ts'
import { ProgressLine } from './progress-line.ts'
import { minimiseFinding, problemWith, runTarget } from './run-target.ts'
import { Workspace } from './workspace.ts'

const stop = new AbortController()

async function main(): Promise<number> {
  const command = readArguments(process.argv.slice(2))
  if (command === undefined) {
    process.stdout.write(USAGE)
    return 0
  }
  const files = chosen(findTargets(process.cwd()), command)
  if (command.isList) return list(files)
  process.once('SIGINT', () => stop.abort())
  await using thread = new FuzzThread()
  const [first] = files
  if (command.input !== undefined && first !== undefined) return await replay(first, thread, command, command.input)
  let found = 0
  for (const file of files) if (!stop.signal.aborted) found += await search(file, thread, command)
  return found === 0 ? 0 : 1
}

function chosen(all: readonly TargetFile[], { targets }: Command): readonly TargetFile[] {
  const unknown = targets.find((name) => !all.some((file) => file.name === name))
  if (unknown !== undefined) throw new UsageError(`unknown target "${unknown}"; --list shows all of them`)
  return targets.length === 0 ? all : all.filter(({ name }) => targets.includes(name))
}

async function list(files: readonly TargetFile[]): Promise<number> {
  const width = Math.max(...files.map(({ name }) => name.length))
  for (const { name, path } of files) {
    process.stdout.write(`${name.padEnd(width)}  ${(await loadTarget(path)).description}\n`)
  }
  return 0
}

async function search(file: TargetFile, thread: FuzzThread, command: Command): Promise<number> {
  const { seed, maxMs, maxRuns, msPerKib } = command
  const workspace = new Workspace(process.cwd())
  const line = new ProgressLine(file.name, (text) => process.stderr.write(text), {
    isTerminal: process.stderr.isTTY,
    now: () => performance.now(),
  })
  const { progress, findings, slowestInput } = await runTarget(file, thread, {
    seed,
    maxMs,
    maxRuns,
    msPerKib,
    learned: workspace.learned(file.name),
    signal: stop.signal,
    onProgress: (now, found) => line.update(now, found),
    onLearned: (input, outcome) => workspace.keep(file.name, input, outcome),
    // Saved unchanged for now, in case the run is interrupted.
    onFound: (finding) => workspace.save(file.name, finding),
  })
  line.end(progress, findings.length)
  workspace.keepSlowest(file.name, slowestInput)
  for (const finding of findings) {
    const small = await minimiseFinding(file, thread, finding, { msPerKib })
    const path = workspace.save(file.name, {
      ...small,
      problem: { ...small.problem, signature: finding.problem.signature },
    })
    process.stdout.write(`\n${small.problem.kind}: ${small.problem.details}\n`)
    process.stdout.write(`input: ${preview(small.input)}\n`)
    process.stdout.write(`replay: npm run fuzz -- ${file.name} --input ${path}\n`)
  }
  return findings.length
}

async function replay(file: TargetFile, thread: FuzzThread, { msPerKib }: Command, path: string): Promise<number> {
  const input = readFileSync(path)
  const problem = await problemWith(file, thread, input, { msPerKib })
  if (problem === undefined) {
    const { outcome, cpuMs } = await thread.judge(file.path, input, { msPerKib })
    process.stdout.write(`no problem: ${outcome} in ${cpuMs.toFixed(2)} ms\n`)
    return 0
  }
  process.stdout.write(`${problem.kind}: ${problem.details}\n`)
  return 1
}

/** The beginning of an input, on one line. */
function preview(input: Uint8Array): string {
  const text = JSON.stringify(Buffer.from(input.subarray(0, 300)).toString('utf8'))
  return input.length > 300 ? `${text}… (${input.length} bytes)` : text
}

/** An error of the command line. */
function isUsage(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return /^(USAGE|ERR_PARSE_ARGS)/.test(String(code))
}

try {
  process.exitCode = await main()
} catch (error) {
  const hint = isUsage(error) ? '\nnpm run fuzz -- --help shows how to use it\n' : ''
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${hint}`)
  process.exitCode = hint === '' ? 1 : 2
}
