/** The workflows of this repository and of new projects, checked by the real actionlint. */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const actionlint = process.env.REEVE_ACTIONLINT
const reason = actionlint === undefined ? ' (skipped: actionlint was not built)' : ''
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const patterns = ['.github/workflows/*.yml', 'packages/cli/template/_github/workflows/*.yml']
const workflows = globSync(patterns, { cwd: ROOT }).map((path) => join(ROOT, path))

/** Other programs that it would use if they are installed are left out, so that the result is the same everywhere. */
function lint(files: readonly string[]): { readonly code: number | null; readonly output: string } {
  const args = ['-no-color', '-shellcheck=', '-pyflakes=', ...files]
  const { status, stdout, stderr, error } = spawnSync(actionlint ?? '', args, { cwd: ROOT, encoding: 'utf8' })
  if (error) throw error
  return { code: status, output: stdout + stderr }
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-workflows-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('workflows', () => {
  it.skipIf(actionlint === undefined)(`are accepted by actionlint${reason}`, () => {
    expect(workflows.length).toBeGreaterThan(2)
    expect(lint(workflows)).toEqual({ code: 0, output: '' })
  })

  it.skipIf(actionlint === undefined)(`are rejected when they use what does not exist${reason}`, async () => {
    const file = join(folder, 'broken.yml')
    const text = readFileSync(join(ROOT, '.github/workflows/release.yml'), 'utf8')
    await writeFile(file, text.replaceAll('needs.version.outputs.repository', 'needs.version.outputs.name'))
    expect(lint([file])).toMatchObject({ code: 1, output: expect.stringContaining('property "name" is not defined') })
  })
})
