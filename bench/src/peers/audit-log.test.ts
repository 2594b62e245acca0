import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AuditLog, OPERATOR_USER } from './audit-log.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-audit-'))
})
afterEach(() => rm(folder, { recursive: true }))

const at = (milliseconds: number) => `2030-01-01T00:00:00.${String(Math.round(milliseconds * 1_000)).padStart(6, '0')}Z`

const request = (
  username: string,
  resource: string,
  image: string,
  [from, to]: readonly [number, number],
  code = 200,
) =>
  JSON.stringify({
    user: { username },
    objectRef: { resource, name: 'shop' },
    requestObject: { spec: { image: `nginx:${image}` } },
    responseStatus: { code },
    requestReceivedTimestamp: at(from),
    stageTimestamp: at(to),
  })
const change = (image: string, ...when: readonly [number, number]) => request('reeve-admin', 'webapps', image, when)
const write = (image: string, from: number, code = 200) =>
  request(OPERATOR_USER, 'deployments', image, [from, from + 1], code)

async function observed(...lines: readonly string[]) {
  const { log } = await AuditLog.prepare(folder)
  await writeFile(join(folder, 'audit.log'), ['{"user":{"username":"from before"}}', ...lines].join('\n'))
  return log.since('{"user":{"username":"from before"}}\n'.length)
}

it('measures from the end of a change to the arrival of the first write that succeeds', async () => {
  const lines = [change('1', 10, 12), write('1', 13, 409), write('1', 14.25), write('1', 20)]
  expect(await observed(...lines)).toEqual({ latenciesMs: [2.25], unresolved: [], writes: 3 })
})

it('the log of changes takes one write of an operator that lags for all changes until then', async () => {
  const lines = [change('1', 10, 12), change('2', 20, 22), write('2', 30)]
  expect(await observed(...lines)).toEqual({ latenciesMs: [18, 8], unresolved: [], writes: 1 })
})

it('the log of changes names those from which no write has resulted', async () => {
  const lines = [change('1', 10, 12), write('1', 13), change('2', 20, 22)]
  expect(await observed(...lines)).toEqual({ latenciesMs: [1], unresolved: ['shop 2'], writes: 1 })
})
