import { expect, it } from 'vitest'
import { FailureTimes } from './failure-times.ts'

it('the time of a failure counts from the first one of a volume, and again after it succeeded', () => {
  let nowMs = 1_000
  const failures = new FailureTimes(() => nowMs)
  expect(failures.haveLasted('a', 60)).toBe(false)
  nowMs += 60
  expect([failures.haveLasted('a', 60), failures.haveLasted('b', 60)]).toEqual([false, false])
  nowMs += 1
  expect([failures.haveLasted('a', 60), failures.haveLasted('b', 60)]).toEqual([true, false])
  failures.clear('a')
  expect(failures.haveLasted('a', 60)).toBe(false)
})

it('volumes that failed long ago are forgotten when too many do', () => {
  let nowMs = 0
  const failures = new FailureTimes(() => nowMs)
  for (let volume = 0; volume <= 1_000; volume++) failures.haveLasted(`volume-${volume}`, 0)
  nowMs += 1
  expect([failures.haveLasted('volume-1000', 0), failures.haveLasted('volume-0', 0)]).toEqual([true, false])
})
