import { SimulatedClock } from '@reeve/http/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { WorkItem } from './work-item.ts'
import { WorkQueue } from './work-queue.ts'

const key = fc.constantFrom('a', 'b', 'c')
const priority = fc.constantFrom('high' as const, 'normal' as const, 'low' as const)
const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key, priority, delayMs: fc.constantFrom(0, 0, 500, 5_000) }),
  fc.record({ do: fc.constant('take' as const) }),
  fc.record({ do: fc.constant('done' as const), which: fc.nat(10), outcome: fc.constantFrom('forget', 'retry') }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }),
)

/** When a key is due: the earliest time requested since its last run began. */
type Owed = Map<string, number>

test('every requested key runs once, not too early, never twice at a time, whatever the order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const clock = new SimulatedClock({ startMs: 0, settle: async () => undefined })
      const queue = new WorkQueue<string>({ name: 'law', clock, random: () => 0, retryRate: { burst: 1_000 } })
      const owed: Owed = new Map()
      const running: WorkItem<string>[] = []
      const failures = new Map<string, number>()

      const owe = (name: string, dueMs: number) => owed.set(name, Math.min(dueMs, owed.get(name) ?? Infinity))
      const takeOne = async () => {
        if (queue.depth === 0) return
        const item = await queue.take()
        if (item === undefined) throw new Error('take returned nothing although a key was ready')
        expect(running.map((other) => other.key)).not.toContain(item.key)
        expect(clock.now()).toBeGreaterThanOrEqual(owed.get(item.key) ?? Infinity)
        owed.delete(item.key)
        running.push(item)
      }
      const giveBack = (index: number, outcome: string) => {
        const [item] = running.splice(index % Math.max(1, running.length), 1)
        if (item === undefined) return
        if (outcome === 'retry') {
          const count = (failures.get(item.key) ?? 0) + 1
          failures.set(item.key, count)
          const delayMs = queue.retry(item.key)
          expect(delayMs).toBe(Math.min(1_000 * 2 ** (count - 1), 300_000))
          owe(item.key, clock.now() + delayMs)
        } else {
          failures.delete(item.key)
          queue.forget(item.key)
        }
        queue.done(item)
      }

      for (const action of steps) {
        if (action.do === 'add') {
          queue.add(action.key, action)
          owe(action.key, clock.now() + action.delayMs)
        } else if (action.do === 'take') await takeOne()
        else if (action.do === 'done') giveBack(action.which, action.outcome)
        else await clock.advance(action.ms)
      }
      // Every request runs in the end, and then the queue is empty.
      for (let turn = 0; turn < 20 && (owed.size > 0 || running.length > 0); turn++) {
        while (running.length > 0) giveBack(0, 'forget')
        await clock.advance(300_000)
        while (queue.depth > 0) await takeOne()
      }
      expect(owed.size).toBe(0)
      expect([queue.depth, queue.delayed, queue.running]).toEqual([0, 0, 0])
      expect(clock.pendingTimers).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('no key starves: under a flood of changes a resync still runs', async () => {
  const clock = new SimulatedClock({ startMs: 0, settle: async () => undefined })
  const queue = new WorkQueue<string>({ name: 'law', clock })
  queue.add('resync', { priority: 'low' })
  let served = -1
  for (let turn = 0; turn < 2_000 && served < 0; turn++) {
    // Two changes come for each one that is handled: the queue only ever grows.
    queue.add(`change-${turn * 2}`)
    queue.add(`change-${turn * 2 + 1}`)
    const item = await queue.take()
    if (item === undefined) throw new Error('nothing to take')
    queue.done(item)
    if (item.key === 'resync') served = clock.now()
    await clock.advance(100)
  }
  expect(served).toBeGreaterThan(0)
  expect(served).toBeLessThanOrEqual(125_000)
})
