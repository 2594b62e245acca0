import { type Clock, systemClock } from '@reeve/http'
import { silentLogger } from '@reeve/runtime'
import { describe, expect, it } from 'vitest'
import type { TroubleshootContext } from '../context.ts'
import type { Finding } from '../finding.ts'
import { checkClock, serverTime } from './clock.ts'

const SERVER_MS = Date.parse('2026-03-01T12:00:00Z')

/** What is reported when the local clock differs by this much from that of the API server. */
async function findingsFor(skewMs: number | undefined): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  const clock: Clock = systemClock
  const time = skewMs === undefined ? undefined : { serverMs: SERVER_MS, localMs: SERVER_MS + skewMs }
  const context: Partial<TroubleshootContext> = {
    clock,
    signal: new AbortController().signal,
    logger: silentLogger,
    report: (finding) => findings.push(finding),
    apiServerTime: () => time,
  }
  // Without a DynaKube nothing else of the context is used.
  await checkClock(context as TroubleshootContext, [])
  return findings.filter(({ status }) => status !== 'start')
}

describe('the check of clocks', () => {
  it.each([
    { skewMs: 0, status: 'ok' },
    { skewMs: 29_999, status: 'ok' },
    { skewMs: -29_999, status: 'ok' },
    { skewMs: 30_000, status: 'warning' },
    { skewMs: -30_000, status: 'warning' },
    { skewMs: 299_999, status: 'warning' },
    { skewMs: -299_999, status: 'warning' },
    { skewMs: 300_000, status: 'error' },
    { skewMs: -300_000, status: 'error' },
  ])('reports $status for a local clock that differs by $skewMs ms', async ({ skewMs, status }) => {
    expect(await findingsFor(skewMs)).toEqual([expect.objectContaining({ check: 'clock', status })])
  })

  it('says which clock is ahead, by how much, and what to do', async () => {
    expect(await findingsFor(-90_000)).toEqual([
      {
        check: 'clock',
        status: 'warning',
        message: 'the local clock is 90 s behind that of the API server',
        remedy: expect.stringContaining('synchronize the clocks of the nodes'),
      },
    ])
    expect((await findingsFor(600_000))[0]?.message).toBe('the local clock is 600 s ahead of that of the API server')
  })

  it('is not a failure when a server sends no date, or one that cannot be read', async () => {
    expect(await findingsFor(undefined)).toEqual([expect.objectContaining({ status: 'info' })])
    expect([serverTime(undefined, 1), serverTime('yesterday', 1)]).toEqual([undefined, undefined])
  })
})
