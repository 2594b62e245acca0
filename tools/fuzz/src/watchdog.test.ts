import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'

const program = fileURLToPath(new URL('./testing/stuck.ts', import.meta.url))
const folder = await mkdtemp(join(tmpdir(), 'reeve-fuzz-'))
afterAll(() => rm(folder, { recursive: true }))

async function run(behaviour: string) {
  const child = spawn(process.execPath, [program, behaviour, join(folder, 'findings', behaviour)])
  const [stderr, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  return { stderr, end: signal ?? code }
}

it.each([
  ['hang', /^\nhang: no end after \d/],
  ['hoard', /^\nmemory: \d+ MiB and growing/],
])(
  'the watchdog ends a process whose thread is lost to an input (%s), and saves the input',
  async (behaviour, message) => {
    const { stderr, end } = await run(behaviour)
    expect(stderr).toMatch(message)
    expect(end).toBe('SIGKILL')
    expect(await readFile(join(folder, 'findings', behaviour), 'utf8')).toBe(behaviour)
  },
)

it('the watchdog leaves a process alone that works between inputs', async () => {
  expect(await run('fine')).toEqual({ stderr: '', end: 0 })
})
