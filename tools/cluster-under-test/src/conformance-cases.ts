/**
 * Prints the cases that run on both clusters, and fails when the two clusters do not run the same cases: `node
 * tools/cluster-under-test/src/conformance-cases.ts`.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The vitest projects that run on the embedded cluster, and on a real one. */
const PROJECTS = [['integration', 'thorough'], ['real']] as const
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const MAX_LIST_BYTES = 64 * 1024 * 1024

interface Listed {
  readonly file: string
  readonly name: string
}

/** The cases of these projects in files that both clusters run, as `file > suite > case`, sorted. */
async function casesOf(projects: readonly string[]): Promise<string[]> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
  // Collecting requires executing the files: a table of cases is a single entry in their source.
  const args = ['list', ...projects.flatMap((each) => ['--project', each]), '--json', '--no-static-parse', '.cluster.']
  const { stdout } = await promisify(execFile)(process.execPath, [vitest, ...args], {
    cwd: ROOT,
    maxBuffer: MAX_LIST_BYTES,
  })
  const listed: readonly Listed[] = JSON.parse(stdout.slice(stdout.indexOf('[')))
  // The previous helm runs on a real cluster only, see `helmsToTry`.
  const onBoth = listed.filter(({ name }) => !/\bhelm 3\b/.test(name))
  return onBoth.map(({ file, name }) => `${relative(ROOT, file)} > ${name}`).sort()
}

const [embedded = [], real = []] = await Promise.all(PROJECTS.map(casesOf))
const inReal = new Set(real)
const inEmbedded = new Set(embedded)
const differences = [
  ...embedded.filter((name) => !inReal.has(name)).map((name) => `only on the embedded cluster: ${name}`),
  ...real.filter((name) => !inEmbedded.has(name)).map((name) => `only on a real cluster: ${name}`),
]
process.stdout.write(
  `${embedded.join('\n')}\n\n${embedded.length} cases on the embedded cluster, ${real.length} on a real one\n`,
)
if (differences.length > 0) {
  process.stderr.write(`${differences.join('\n')}\n`)
  process.exitCode = 1
}
