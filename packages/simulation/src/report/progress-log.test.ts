import { describe, expect, it } from 'vitest'
import type { Progress } from './exploration-report.ts'
import { ProgressLog } from './progress-log.ts'

function logTo(isTerminal: boolean) {
  const written: string[] = []
  const clock = { ms: 0 }
  const log = new ProgressLog((text) => written.push(text), { isTerminal, now: () => clock.ms })
  return { log, written, clock }
}

const at = (done: number, more: Partial<Progress> = {}): Progress => ({
  pattern: 'crash-after-write',
  done,
  total: 3,
  doneInAll: done,
  totalInAll: 8,
  divergences: 0,
  ...more,
})

describe('progress', () => {
  it('is a line when a pattern begins, one when it ends, and one every ten seconds between', () => {
    const { log, written, clock } = logTo(false)
    log.update('webapp', at(0))
    clock.ms = 4_000
    log.update('webapp', at(1))
    clock.ms = 10_000
    log.update('webapp', at(2))
    clock.ms = 12_500
    log.update('webapp', at(3, { divergences: 1 }))
    expect(written).toEqual([
      'webapp crash-after-write: 3 points\n',
      'webapp crash-after-write: 2 of 3, 2 of 8 in all, 10.0 s\n',
      'webapp crash-after-write: 3 runs, 1 divergence, 12.5 s\n',
    ])
  })

  it('shows that a long run is in progress', () => {
    const { log, written, clock } = logTo(false)
    log.tick()
    log.update('webapp', at(0))
    clock.ms = 9_000
    log.tick()
    clock.ms = 11_000
    log.tick()
    expect(written.slice(1)).toEqual(['webapp crash-after-write: 0 of 3, 0 of 8 in all, 11.0 s\n'])
  })

  it('is one line that changes on a terminal, and is removed at the end', () => {
    const { log, written, clock } = logTo(true)
    log.update('webapp', at(0))
    clock.ms = 1_500
    log.update('webapp', at(1))
    log.end()
    log.end()
    expect(written).toEqual([
      '\rwebapp crash-after-write: 0 of 3, 0 of 8 in all, 0.0 s\x1b[K',
      '\rwebapp crash-after-write: 1 of 3, 1 of 8 in all, 1.5 s\x1b[K',
      '\r\x1b[K',
    ])
  })
})
