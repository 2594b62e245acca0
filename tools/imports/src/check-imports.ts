/** `npm run check:imports`: fails when a package imports what it must not know, or folders import each other. */
import { fileURLToPath } from 'node:url'
import { folderCycles, isWithin } from './folder-cycles.ts'
import { readImports } from './import-graph.ts'
import { KNOWN_CYCLES } from './known-cycles.ts'
import { layerProblems } from './package-layers.ts'

const imports = readImports(fileURLToPath(new URL('../../..', import.meta.url)))
const cycles = folderCycles(imports)
const problems = [
  ...layerProblems(imports),
  ...cycles
    .filter((cycle) => !KNOWN_CYCLES.some((known) => isWithin(cycle, known)))
    .map((cycle) => `these folders import each other: ${cycle.join(', ')}; move what they share to a separate folder`),
]
for (const problem of problems) process.stderr.write(`${problem}\n`)
for (const known of KNOWN_CYCLES.filter((each) => !cycles.some((cycle) => isWithin(cycle, each)))) {
  process.stdout.write(`no longer a cycle, remove it from known-cycles.ts: ${known.join(', ')}\n`)
}
process.exitCode = problems.length === 0 ? 0 : 1
