/**
 * Implements `npm run test:stress`: runs test files again and again while other work occupies every core.
 *
 * Ends with the first run that fails, and with the exit code of that run; 130 when it was interrupted.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chooseFiles, parseSlice } from './choose-files.ts'

const EXIT_USAGE = 64
const EXIT_INTERRUPTED = 130

const HELP = `usage: npm run test:stress -- [options] [files]

Runs test files repeatedly with all cores loaded by other work, until a run fails.

options:
  --times N      runs of each file (default 20)
  --since REV    the test files that changed since this commit (default: HEAD, when no files are given)
  --slice K/N    the K-th of N slices of all test files, for runs at night; each runs once unless --times is given

examples:
  npm run test:stress
  npm run test:stress -- packages/runtime/src/queue/work-queue.test.ts --times 50
  npm run test:stress -- --slice 3/7
`

const root = fileURLToPath(new URL('../../..', import.meta.url))
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())

/** What was asked for does not exist. */
class UsageError extends Error {}

try {
  process.exitCode = await main()
} catch (error) {
  // parseArgs throws a TypeError for an unknown option.
  if (!(error instanceof UsageError || error instanceof TypeError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = EXIT_USAGE
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      times: { type: 'string' },
      since: { type: 'string', default: 'HEAD' },
      slice: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const slice = values.slice === undefined ? undefined : parseSlice(values.slice)
  const times = Number(values.times ?? (slice === undefined ? 20 : 1))
  if (slice === null || !Number.isInteger(times) || times < 1) {
    throw new UsageError('--slice needs K/N with K from 1 to N, --times a positive whole number')
  }
  const files = chooseFiles({ named: positionals, slice, all: allFiles, changed: () => changedFiles(values.since) })
  if (files.length === 0) throw new UsageError('no test file to run: name some, or choose a commit with --since')
  return repeat(files, times)
}

async function repeat(files: readonly string[], times: number): Promise<number> {
  const load = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;) {}']))
  try {
    for (let run = 1; run <= times; run += 1) {
      console.log(`\nrun ${run} of ${times}: ${files.length} files under load`)
      const code = await runVitest(files)
      if (interrupted.signal.aborted) return EXIT_INTERRUPTED
      if (code !== 0) {
        console.error(`\nrun ${run} of ${times} failed`)
        return code
      }
    }
    console.log(`\n${times} runs passed`)
    return 0
  } finally {
    await Promise.all(load.map(kill))
  }
}

async function runVitest(files: readonly string[]): Promise<number> {
  const program = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  // That project has the files *.cluster.test.ts as well, for a control plane that does not run here.
  const options = ['--project', '!real', '--reporter', 'dot']
  const vitest = spawn(process.execPath, [program, 'run', ...options, ...files], {
    cwd: root,
    stdio: 'inherit',
  })
  const stop = () => vitest.kill('SIGTERM')
  interrupted.signal.addEventListener('abort', stop)
  const [code] = await once(vitest, 'exit')
  interrupted.signal.removeEventListener('abort', stop)
  return typeof code === 'number' ? code : 1
}

async function kill(child: ChildProcess): Promise<void> {
  // Ctrl-C reaches it as well.
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

/** The files of `npm test`. */
function allFiles(): readonly string[] {
  return git('ls-files', '*.test.ts').filter(
    (file) => !/\.(?:browser|node|process|real|thorough)\.test\.ts$|\/template\//.test(file),
  )
}

function changedFiles(since: string): readonly string[] {
  const changed = git('diff', '--name-only', '--diff-filter=d', since)
  return [...changed, ...git('ls-files', '--others', '--exclude-standard')]
}

function git(...args: string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new UsageError(stderr.trim())
  return stdout.split('\n').filter((line) => line !== '')
}
