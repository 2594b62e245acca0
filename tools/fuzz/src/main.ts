/** Implements `npm run fuzz`: runs the fuzz targets in Vitest for longer than `npm test` does. */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Search } from './fuzz.ts'

const EXIT_USAGE = 64
const EXIT_INTERRUPTED = 130

const HELP = `usage: npm run fuzz -- [target...] [options]

Feeds parsers of untrusted input with generated and edited inputs. An input is a finding when the parser crashes
(fails with anything but its documented error), breaks a law, hangs, needs more than its share of CPU time or
memory, or changes a shared prototype. A finding is made smaller and saved in .reeve/fuzz.

Without a target all of them are run. Targets are the files fuzz/<target>.fuzz.test.ts of the packages.

options:
  --minutes N    how long to search with each target (default 1; fractions are fine)
  --seed N       other seed, other inputs (default: of the time)
  --path PATH    replay one input of this seed, as a finding names it
  --input FILE   replay the input in this file, such as a finding

examples:
  npm run fuzz -- kubeconfig --minutes 5
  npm run fuzz -- json-patch merge-patch --minutes 0.5 --seed 7
  npm run fuzz -- cel --input .reeve/fuzz/cel
`

try {
  process.exitCode = main()
} catch (error) {
  // parseArgs throws a TypeError for an unknown option.
  if (!(error instanceof TypeError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = EXIT_USAGE
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      path: { type: 'string' },
      input: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const minutes = Number(values.minutes)
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed)
  if (!(minutes > 0) || !Number.isInteger(seed)) throw new TypeError('--minutes must be above 0, --seed a whole number')
  if (values.input !== undefined && positionals.length !== 1) throw new TypeError('--input needs exactly one target')
  if (values.path !== undefined && (positionals.length !== 1 || values.seed === undefined)) {
    throw new TypeError('--path needs exactly one target, and --seed')
  }
  const { path, input } = values
  const search: Search = {
    maxMs: minutes * 60_000,
    seed,
    ...(path !== undefined && { path }),
    ...(input !== undefined && { input }),
  }
  const files = positionals.map((target) => `/${target}.fuzz.test.ts`)
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  // An interrupt goes to both processes; the child prints how far it came.
  process.on('SIGINT', () => undefined)
  const { status, signal } = spawnSync(process.execPath, [vitest, 'run', '--project', 'fuzz', ...files], {
    stdio: 'inherit',
    env: { ...process.env, REEVE_FUZZ: JSON.stringify(search) },
  })
  return status ?? (signal === 'SIGINT' ? EXIT_INTERRUPTED : 1)
}
