/** `npm run five-minutes`: builds and packs the packages, follows the tutorial with them, and prints the time it took. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages } from '../build.ts'
import { packPackages } from '../pack.ts'
import { followTutorial } from './follow-tutorial.ts'
import { startRegistry } from './local-registry.ts'
import { readTutorial } from './tutorial.ts'

const folder = await mkdtemp(join(tmpdir(), 'reeve-five-minutes-'))
try {
  const packages = await packPackages(await buildPackages(), join(folder, 'archives'))
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  await using registry = await startRegistry(packages, upstream)
  const steps = await followTutorial(await readTutorial(), {
    folder,
    registry: registry.url,
    onStep: ({ step, seconds }) => process.stdout.write(`${seconds.toFixed(1).padStart(6)} s  ${step}\n`),
  })
  const seconds = steps.reduce((sum, step) => sum + step.seconds, 0)
  const load = loadavg()[0]?.toFixed(1)
  process.stdout.write(
    `${seconds.toFixed(1).padStart(6)} s  in all (load ${load} on ${availableParallelism()} cores)\n`,
  )
  process.exitCode = seconds > 300 ? 1 : 0
} finally {
  await rm(folder, { recursive: true, force: true })
}
