import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PATTERN_NAMES } from '../src/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
let folder: string

beforeAll(async () => {
  // Below the root, so that the example finds the packages as a reader's would.
  await mkdir(join(root, '.reeve'), { recursive: true })
  folder = await mkdtemp(join(root, '.reeve', 'exploration-'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const page = await readFile(join(root, 'docs/exploration.md'), 'utf8')
  for (const [, name = '', code = ''] of page.matchAll(/^```ts file=(\S+)\n([\s\S]*?)^```$/gm)) {
    await writeFile(join(folder, name), code)
  }
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('docs/exploration.md', () => {
  it('has an operator that survives its exploration', { timeout: 600_000 }, async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'exploration.ts')], { cwd: root })
    expect(stdout).toBe(`${PATTERN_NAMES.length} patterns, 0 divergences\n`)
  })

  it('has an operator with a world outside the cluster, whose calls are explored', { timeout: 600_000 }, async () => {
    const { stdout } = await run(process.execPath, [join(folder, 'outside.ts')], { cwd: root })
    expect(stdout).toMatch(/^[1-9]\d* 0\n$/)
  })
})
