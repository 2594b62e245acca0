/** The command behind `npm run test:real`, on a machine without a control plane. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it('npm run test:real prints what is missing and exits with 69', async () => {
  const cache = await mkdtemp(join(tmpdir(), 'run-tests-'))
  const main = fileURLToPath(new URL('../src/run-tests.ts', import.meta.url))
  const run = spawn(process.execPath, [main], {
    env: { PATH: '', REEVE_REAL_CLUSTER_CACHE: cache },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [message, [code]] = await Promise.all([text(run.stderr), once(run, 'exit')])
  await rm(cache, { recursive: true })
  expect(message).toContain('install Go')
  expect(code).toBe(69)
})
