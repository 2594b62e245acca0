import { SimulatedClock } from '@reeve/http/testing'
import { describe, expect, test } from 'vitest'
import { createMetricsRegistry } from '../metrics/registry.ts'
import type { AddOptions, WorkItem, WorkQueueOptions } from './work-item.ts'
import { WorkQueue } from './work-queue.ts'

function setUp(options: Partial<WorkQueueOptions<string>> = {}) {
  const clock = new SimulatedClock({ startMs: 0 })
  const queue = new WorkQueue<string>({ name: 'test', clock, random: () => 0, ...options })
  return { clock, queue }
}

/** Takes a key that is ready now, if there is one. */
async function takeNow(queue: WorkQueue<string>, clock: SimulatedClock): Promise<WorkItem<string> | undefined> {
  await clock.settle()
  return queue.depth === 0 ? undefined : queue.take()
}

/** Takes and completes everything that is ready now. */
async function runAll(queue: WorkQueue<string>, clock: SimulatedClock): Promise<string[]> {
  const keys: string[] = []
  for (let item = await takeNow(queue, clock); item !== undefined; item = await takeNow(queue, clock)) {
    keys.push(item.key)
    queue.done(item)
  }
  return keys
}

describe('one run per key', () => {
  test('a key added three times runs once, with the reasons of all three', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { reason: { event: 'added', kind: 'WebApp', namespace: 'ns', name: 'a' } })
    queue.add('a', { reason: { event: 'modified', kind: 'Deployment', namespace: 'ns', name: 'a' } })
    queue.add('a', { reason: { event: 'added', kind: 'WebApp', namespace: 'ns', name: 'a' } })
    const item = await takeNow(queue, clock)
    expect(item?.reasons.map(({ event, kind }) => `${event} ${kind}`)).toEqual(['added WebApp', 'modified Deployment'])
    expect(await takeNow(queue, clock)).toBeUndefined()
  })

  test('a key added while it runs does not run until it is done, then once', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const first = await takeNow(queue, clock)
    queue.add('a')
    queue.add('a')
    expect(await takeNow(queue, clock)).toBeUndefined()
    if (first !== undefined) queue.done(first)
    expect(await runAll(queue, clock)).toEqual(['a'])
  })

  test('completing an item twice does not free the run that followed', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const first = await takeNow(queue, clock)
    if (first === undefined) throw new Error('nothing to take')
    queue.done(first)
    queue.add('a')
    await takeNow(queue, clock)
    queue.done(first)
    expect(queue.running).toBe(1)
  })

  test('a waiting worker gets the key as soon as it is added', async () => {
    const { queue } = setUp()
    const waiting = queue.take()
    queue.add('a')
    expect((await waiting)?.key).toBe('a')
  })

  test('several adds in a row are one run, also when a worker is waiting', async () => {
    const { queue, clock } = setUp()
    const waiting = queue.take()
    queue.add('a', { reason: { event: 'modified', kind: 'Deployment' } })
    queue.add('a', { reason: { event: 'modified', kind: 'Service' } })
    const item = await waiting
    expect(item?.reasons).toHaveLength(2)
    if (item !== undefined) queue.done(item)
    expect(await takeNow(queue, clock)).toBeUndefined()
  })

  test('reasons beyond the limit are counted, not kept', async () => {
    const { clock, queue } = setUp()
    for (let pod = 0; pod < 10; pod++) queue.add('a', { reason: { event: 'modified', kind: 'Pod', name: `${pod}` } })
    const item = await takeNow(queue, clock)
    expect(item?.reasons).toHaveLength(8)
    expect(item?.omittedReasons).toBe(2)
  })

  test('object keys are the same when their identity is the same', async () => {
    const queue = new WorkQueue<{ name: string }>({ name: 'test', identify: ({ name }) => name })
    queue.add({ name: 'a' })
    queue.add({ name: 'a' })
    expect(queue.depth).toBe(1)
  })
})

describe('delays', () => {
  test('a delayed key runs exactly when it is due', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { delayMs: 30_000 })
    await clock.advance(29_999)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(queue.depth).toBe(1)
  })

  test('keeps the earliest delay when a key is added twice, in either order', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { delayMs: 30_000 })
    queue.add('a', { delayMs: 10_000 })
    queue.add('b', { delayMs: 10_000 })
    queue.add('b', { delayMs: 30_000 })
    await clock.advance(10_000)
    expect(await runAll(queue, clock)).toEqual(['a', 'b'])
    await clock.advance(60_000)
    expect(queue.depth).toBe(0)
  })

  test('an immediate add replaces a delayed one', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { delayMs: 30_000 })
    queue.add('a')
    expect(await runAll(queue, clock)).toEqual(['a'])
    await clock.advance(60_000)
    expect(await runAll(queue, clock)).toEqual([])
    expect(clock.pendingTimers).toBe(0)
  })

  test('a delay of months is kept in timers that the platform can hold', async () => {
    const clock = new SimulatedClock({ startMs: 0 })
    const longest: number[] = []
    const platform = {
      now: () => clock.now(),
      schedule: (delayMs: number, action: () => void) => {
        longest.push(delayMs)
        return clock.schedule(delayMs, action)
      },
    }
    const queue = new WorkQueue<string>({ name: 'test', clock: platform })
    const ninetyDaysMs = 90 * 86_400_000
    queue.add('a', { delayMs: ninetyDaysMs })
    await clock.advance(ninetyDaysMs - 1)
    expect(queue.depth).toBe(0)
    await clock.advance(1)
    expect(queue.depth).toBe(1)
    expect(Math.max(...longest)).toBeLessThan(2 ** 31)
    expect(longest.length).toBeLessThan(10)
  })

  test('a delay requested during a run applies after it', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const item = await takeNow(queue, clock)
    queue.add('a', { delayMs: 5_000 })
    await clock.advance(1_000)
    if (item !== undefined) queue.done(item)
    expect(queue.depth).toBe(0)
    await clock.advance(4_000)
    expect(queue.depth).toBe(1)
  })
})

describe('retries', () => {
  async function failOnce(queue: WorkQueue<string>, clock: SimulatedClock): Promise<number> {
    await clock.runUntil(() => queue.depth > 0)
    const item = await takeNow(queue, clock)
    if (item === undefined) throw new Error('nothing to take')
    const delayMs = queue.retry(item.key)
    queue.done(item)
    return delayMs
  }

  test('back off 1 s, 2 s, 4 s … up to 5 min', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const delays: number[] = []
    for (let turn = 0; turn < 11; turn++) delays.push(await failOnce(queue, clock))
    expect(delays.map((ms) => ms / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
  })

  test('add at most a tenth of jitter, so the documented delays stay visible', async () => {
    const { clock, queue } = setUp({ random: () => 0.999 })
    queue.add('a')
    expect(await failOnce(queue, clock)).toBe(1_100)
    expect(await failOnce(queue, clock)).toBe(2_200)
  })

  test('start over after a success', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    await failOnce(queue, clock)
    await failOnce(queue, clock)
    expect(queue.failures('a')).toBe(2)
    queue.forget('a')
    expect(await failOnce(queue, clock)).toBe(1_000)
  })

  test('wait as long as a server asks', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const item = await takeNow(queue, clock)
    expect(queue.retry('a', { minDelayMs: 7_000 })).toBe(7_000)
    if (item !== undefined) queue.done(item)
  })

  test('of many keys together are limited overall', async () => {
    const { queue } = setUp({ retryRate: { perSecond: 1, burst: 2 } })
    const delays = ['a', 'b', 'c', 'd', 'e'].map((key) => queue.retry(key) / 1_000)
    expect(delays).toEqual([1, 1, 1, 2, 3])
  })

  test('are overtaken by a change of the user', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    await failOnce(queue, clock)
    queue.add('a')
    expect(queue.depth).toBe(1)
  })

  test('are not overtaken by a resync that respects the backoff', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    await failOnce(queue, clock)
    queue.add('a', { respectBackoff: true, priority: 'low' })
    queue.add('b', { delayMs: 600_000 })
    queue.add('b', { respectBackoff: true, priority: 'low' })
    expect(await runAll(queue, clock)).toEqual(['b'])
  })

  test('are not overtaken by an echo, also when it is only known as one after the run', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const item = await takeNow(queue, clock)
    let isEcho = false
    queue.add('a', { isEcho: () => isEcho })
    isEcho = true
    queue.add('a', { isEcho: () => isEcho })
    expect(queue.retry('a')).toBeGreaterThanOrEqual(1_000)
    if (item !== undefined) queue.done(item)
    queue.add('a', { isEcho: () => isEcho })
    expect([queue.depth, queue.delayed]).toEqual([0, 1])
    queue.add('a', { isEcho: () => false })
    expect([queue.depth, queue.delayed]).toEqual([1, 0])
  })

  test('a run says whether only echoes made it run, whatever else is requested for later', async () => {
    const { clock, queue } = setUp()
    const causes: readonly (readonly AddOptions[])[] = [
      [{}],
      [{ isEcho: () => true }],
      [{ isEcho: () => false }],
      [{ isEcho: () => true }, { isEcho: () => false }],
      [{ delayMs: 30_000 }, { isEcho: () => true }],
    ]
    const answers: (boolean | undefined)[] = []
    for (const requests of causes) {
      for (const options of requests) queue.add('a', options)
      const item = await takeNow(queue, clock)
      answers.push(item?.isEcho)
      if (item !== undefined) queue.done(item)
    }
    expect(answers).toEqual([false, true, false, false, true])
  })

  test('an echo does not run a key that has given up; a resync and a change do', async () => {
    const { clock, queue } = setUp()
    const isEcho = () => true
    for (const next of [{}, { respectBackoff: true }, { isEcho: () => false }]) {
      queue.add('a', next)
      const item = await takeNow(queue, clock)
      queue.add('a', { isEcho })
      queue.giveUp('a')
      if (item !== undefined) queue.done(item)
      queue.add('a', { isEcho })
      expect([item?.key, queue.depth, queue.delayed]).toEqual(['a', 0, 0])
    }
  })

  test('an event during a failing run makes the key run again immediately', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    const item = await takeNow(queue, clock)
    queue.add('a')
    queue.retry('a')
    if (item !== undefined) queue.done(item)
    expect(queue.depth).toBe(1)
  })
})

describe('priorities', () => {
  test('changes go before retries and retries before resyncs', async () => {
    const { clock, queue } = setUp()
    queue.add('resync', { priority: 'low' })
    queue.add('retry', { priority: 'normal' })
    queue.add('change', { priority: 'high' })
    expect(await runAll(queue, clock)).toEqual(['change', 'retry', 'resync'])
  })

  test('a waiting resync is raised when the user changes the same key', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { priority: 'low' })
    queue.add('b', { priority: 'low' })
    queue.add('b', { priority: 'high' })
    expect(await runAll(queue, clock)).toEqual(['b', 'a'])
  })

  test('a resync that waited for a minute runs before a new change', async () => {
    const { clock, queue } = setUp()
    queue.add('resync', { priority: 'low' })
    await clock.advance(60_001)
    queue.add('change', { priority: 'high' })
    expect(await runAll(queue, clock)).toEqual(['resync', 'change'])
  })
})

describe('shutdown', () => {
  test('stopping ends every waiting take and drops waiting keys', async () => {
    const { clock, queue } = setUp()
    const waiting = queue.take()
    queue.stop()
    expect(await waiting).toBeUndefined()
    expect(queue.add('a')).toBe(false)
    expect(await queue.take()).toBeUndefined()
    expect(clock.pendingTimers).toBe(0)
  })
})

test('a work queue rejects keys beyond its maximum and accepts them again when there is room', async () => {
  const errors: string[] = []
  const { clock, queue } = setUp({
    maxKeys: 2,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (_, message) => errors.push(message),
      child() {
        return this
      },
    },
  })
  expect(['a', 'b', 'c', 'd'].map((key) => queue.add(key))).toEqual([true, true, false, false])
  expect(errors).toEqual(['work queue is full'])
  await runAll(queue, clock)
  expect(queue.add('c')).toBe(true)
})

test('a work queue shows depth, waiting time, work time, retries and stuck workers under the known metric names', async () => {
  const metrics = await createMetricsRegistry({ processMetrics: false })
  const { clock, queue } = setUp({ metrics })
  queue.add('a', { priority: 'low' })
  queue.add('a', { priority: 'high' })
  queue.add('b')
  queue.add('c')
  await clock.advance(2_000)
  const done = await takeNow(queue, clock)
  await takeNow(queue, clock)
  await clock.advance(3_000)
  queue.retry('z')
  if (done !== undefined) queue.done(done)
  const text = await metrics.expose()
  expect(text).toContain('workqueue_depth{name="test"} 1')
  expect(text).toContain('workqueue_adds_total{name="test"} 3')
  expect(text).toContain('workqueue_retries_total{name="test"} 1')
  expect(text).toContain('workqueue_queue_duration_seconds_sum{name="test"} 4')
  expect(text).toContain('workqueue_work_duration_seconds_sum{name="test"} 3')
  expect(text).toContain('workqueue_unfinished_work_seconds{name="test"} 3')
  expect(text).toContain('workqueue_longest_running_processor_seconds{name="test"} 3')
})
