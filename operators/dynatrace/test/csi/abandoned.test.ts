/** What a test that is killed leaves running: nothing. */
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { spawnBound } from '../support/spawn-bound.ts'
import { until } from '../support/until.ts'
import { missingRights } from './support/csi-node.ts'

const SCRIPT = fileURLToPath(new URL('support/abandoned-node.ts', import.meta.url))

interface Left {
  readonly folder: string
  readonly outcome: unknown
  readonly mounts: number
  readonly pids: readonly number[]
}

/** A process that has ended and that nobody has waited for is still in the table. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return status !== '' && !/^State:\s+[ZX]/m.test(status)
}

describe.skipIf(missingRights())('a test that is killed while a driver has mounts (skipped without root)', () => {
  it('leaves neither the driver nor the namespace with its mounts behind', async () => {
    const test = spawnBound([process.execPath, SCRIPT])
    const [line] = await once(createInterface(test.stdout), 'line')
    const { folder, outcome, mounts, pids } = JSON.parse(line) as Left
    expect([outcome, mounts]).toEqual([{ response: {} }, 2])
    const ended = once(test, 'exit')
    test.kill('SIGKILL')
    await ended
    await until('the end of its processes', async () => !(await Promise.all(pids.map(isRunning))).includes(true))
    await rm(folder, { recursive: true })
  })
})
