import { expect, test } from 'vitest'
import { sleep } from '../clock.ts'
import { SimulatedClock, SimulatedTimeError } from './simulated-clock.ts'

test('a simulated clock fires timers in order of due time, then of scheduling', async () => {
  const clock = new SimulatedClock()
  const fired: string[] = []
  clock.schedule(20, () => fired.push('late'))
  clock.schedule(10, () => fired.push('first'))
  clock.schedule(10, () => fired.push('second'))
  await clock.advance(19)
  expect(fired).toEqual(['first', 'second'])
  await clock.advance(1)
  expect(fired).toEqual(['first', 'second', 'late'])
})

test('a simulated clock lets promises settle between two timers, so a chain of sleeps keeps exact time', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  const wokeAt: number[] = []
  const chain = (async () => {
    for (let turn = 0; turn < 3; turn++) {
      await sleep(1_000, { clock })
      wokeAt.push(clock.now())
    }
  })()
  await clock.advance(10_000)
  await chain
  expect(wokeAt).toEqual([1_000, 2_000, 3_000])
  expect(clock.now()).toBe(10_000)
})

test('a cancelled timer never fires and no longer counts as pending', async () => {
  const clock = new SimulatedClock()
  let fired = false
  const timer = clock.schedule(5, () => {
    fired = true
  })
  expect(clock.pendingTimers).toBe(1)
  timer.cancel()
  timer.cancel()
  expect(clock.pendingTimers).toBe(0)
  await clock.advance(10)
  expect(fired).toBe(false)
})

test('runUntil stops as soon as the condition holds', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  let done = false
  clock.schedule(90_000, () => {
    done = true
  })
  clock.schedule(100_000, () => undefined)
  await clock.runUntil(() => done)
  expect(clock.now()).toBe(90_000)
})

test('runUntil waits for an asynchronous condition', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  let done = false
  clock.schedule(10, () => {
    done = true
  })
  await clock.runUntil(async () => done)
  expect(clock.now()).toBe(10)
})

test('runUntil fails after its limit, or immediately when nothing can change anymore', async () => {
  const clock = new SimulatedClock()
  await expect(clock.runUntil(() => false)).rejects.toThrow('no timer is left')
  const rearm = () => {
    clock.schedule(1_000, rearm)
  }
  rearm()
  await expect(clock.runUntil(() => false, { maxMs: 5_000 })).rejects.toThrow('within 5000 simulated ms')
})

test('runUntilIdle ends when the last timer fired', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  clock.schedule(1_000, () => {
    clock.schedule(2_000, () => undefined)
  })
  await clock.runUntilIdle()
  expect(clock.now()).toBe(3_000)
  expect(clock.pendingTimers).toBe(0)
})

test('runToCompletion drives time for a promise and passes its outcome on', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  await expect(clock.runToCompletion(sleep(500, { clock }).then(() => 'done'))).resolves.toBe('done')
  const failing = sleep(500, { clock }).then(() => {
    throw new Error('lost')
  })
  await expect(clock.runToCompletion(failing)).rejects.toThrow('lost')
  expect(clock.now()).toBe(1_000)
})

test('a simulated clock rejects a second run while the first is in progress', async () => {
  const clock = new SimulatedClock()
  const first = clock.advance(10)
  await expect(clock.advance(10)).rejects.toThrow(SimulatedTimeError)
  await first
})

test('a simulated clock notices a timer that re-arms itself without delay instead of hanging', async () => {
  const clock = new SimulatedClock({ settle: async () => undefined })
  const rearm = () => {
    clock.schedule(0, rearm)
  }
  rearm()
  await expect(clock.advance(1)).rejects.toThrow('time stands still')
})

test('an exception of a timer reaches the caller that moves the clock', async () => {
  const clock = new SimulatedClock()
  clock.schedule(1, () => {
    throw new Error('in a timer')
  })
  await expect(clock.advance(1)).rejects.toThrow('in a timer')
  await clock.advance(1)
})

test('time that is skipped shows, and timers wait as long as without', async () => {
  const clock = new SimulatedClock({ startMs: 0 })
  const fired: number[] = []
  clock.schedule(100, () => fired.push(clock.now()))
  clock.skip(5_000)
  expect([clock.now(), clock.nextTimerMs]).toEqual([5_000, 5_100])
  await clock.advance(99)
  expect(fired).toEqual([])
  await clock.advance(1)
  expect(fired).toEqual([5_100])
})
