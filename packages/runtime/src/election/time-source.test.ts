import { systemClock } from '@reeve/http'
import { expect, test } from 'vitest'
import { LeadershipTerm } from './leadership.ts'
import { timeSource } from './time-source.ts'

/** Two clocks that a test moves apart. */
function clocks() {
  const wall = { ms: 1_000_000 }
  const monotonic = { ms: 0 }
  const clock = { now: () => wall.ms, schedule: systemClock.schedule }
  const time = timeSource(clock, () => monotonic.ms)
  const advance = (ms: number) => {
    wall.ms += ms
    monotonic.ms += ms
  }
  return { wall, monotonic, clock, time, advance }
}

test('a wall clock that is set back does not prolong our own lease', () => {
  const { wall, clock, time, advance } = clocks()
  const term = new LeadershipTerm(10_000, clock, time)
  term.renew(time.now(), () => new Error('expired'))
  wall.ms -= 3_600_000
  advance(9_999)
  expect(term.isLeader).toBe(true)
  advance(1)
  expect(term.isLeader).toBe(false)
  term.end(new Error('done'))
})

test('a machine that was suspended, whose monotonic clock stopped, does not think it still leads', () => {
  const { wall, clock, time } = clocks()
  const term = new LeadershipTerm(10_000, clock, time)
  term.renew(time.now(), () => new Error('expired'))
  wall.ms += 60_000
  expect(term.isLeader).toBe(false)
  term.end(new Error('done'))
})

test("another's lease has not run out before it has on both clocks", () => {
  const { wall, monotonic, time } = clocks()
  const seen = time.now()
  wall.ms += 60_000
  expect(time.atLeastSince(seen)).toBe(0)
  monotonic.ms += 15_000
  expect(time.atLeastSince(seen)).toBe(15_000)
})

test('the clock of the machine is measured on its monotonic clock, too', () => {
  const time = timeSource(systemClock)
  const { monotonicMs, wallMs } = time.now()
  expect(monotonicMs).not.toBe(wallMs)
  expect(time.atLeastSince({ monotonicMs, wallMs: wallMs - 3_600_000 })).toBeLessThan(3_600_000)
})
