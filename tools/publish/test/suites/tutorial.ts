/** Someone who follows docs/writing-an-operator.md outside the repository has a tested operator. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { followTutorial } from '../../src/five-minutes/follow-tutorial.ts'
import { startRegistry } from '../../src/five-minutes/local-registry.ts'
import { readTutorial } from '../../src/five-minutes/tutorial.ts'
import { packed } from '../support/packed.ts'

/** What it takes on a machine that has nothing else to do is printed by `npm run five-minutes`. */
const LONG_MS = 900_000

it('the commands of the tutorial lead to an operator that works', { timeout: LONG_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-tutorial-'))
  try {
    const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
    await using registry = await startRegistry(await packed(), upstream)
    const steps = await followTutorial(await readTutorial(), { folder, registry: registry.url })
    expect(steps.length).toBeGreaterThan(7)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
