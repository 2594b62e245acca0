import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StatusError } from '../status-error.ts'
import { ControlLoop, type Reconcile } from './control-loop.ts'
import { TestClock } from './testing/test-clock.ts'

function setup(reconcile: Reconcile, options: { concurrency?: number } = {}) {
  const clock = new TestClock(() => setImmediate())
  const errors: unknown[] = []
  const loop = new ControlLoop(reconcile, {
    clock,
    random: () => 0.5,
    onError: (_key, error) => errors.push(error),
    ...options,
  })
  loop.start()
  return { clock, loop, errors }
}

const conflict = () => new StatusError(409, 'Conflict', 'the object has been modified')

describe('the control loop', () => {
  it('reconciles a key once however often it is added while it is queued', async () => {
    const seen: string[] = []
    const { loop } = setup(async (key) => void seen.push(key) as undefined)
    for (const key of ['a', 'b', 'a', 'a', 'b']) loop.add(key)
    await setImmediate()
    expect(seen).toEqual(['a', 'b'])
  })

  it('reconciles a key again that is added while it is being reconciled, and never concurrently', async () => {
    let running = 0
    let runs = 0
    const { loop } = setup(async (key) => {
      running += 1
      expect(running).toBe(1)
      if (++runs === 1) loop.add(key)
      await setImmediate()
      running -= 1
      return undefined
    })
    loop.add('a')
    for (let turn = 0; turn < 5; turn++) await setImmediate()
    expect(runs).toBe(2)
    expect(loop.isIdle).toBe(true)
  })

  it('reconciles at most the configured number of keys concurrently', async () => {
    let most = 0
    let running = 0
    const { loop } = setup(
      async () => {
        most = Math.max(most, ++running)
        await setImmediate()
        running -= 1
        return undefined
      },
      { concurrency: 3 },
    )
    for (let key = 0; key < 10; key++) loop.add(`${key}`)
    for (let turn = 0; turn < 10; turn++) await setImmediate()
    expect(most).toBe(3)
    expect(loop.isIdle).toBe(true)
  })

  it('requeues after the time that a reconcile returned', async () => {
    const times: number[] = []
    const { clock, loop } = setup(async () => {
      times.push(clock.now())
      return times.length < 3 ? 1_000 : undefined
    })
    const start = clock.now()
    loop.add('a')
    await clock.advance(10_000)
    expect(times.map((time) => time - start)).toEqual([0, 1_000, 2_000])
    expect(clock.pendingTimers).toBe(0)
  })

  it('drops the requested time when an event arrives first', async () => {
    let runs = 0
    const { clock, loop } = setup(async () => (++runs === 1 ? 60_000 : undefined))
    loop.add('a')
    await clock.advance(1_000)
    loop.add('a')
    await clock.advance(3_600_000)
    expect(runs).toBe(2)
  })

  it('keeps the earliest of several requested delays', async () => {
    const times: number[] = []
    const { clock, loop } = setup(async () => void times.push(clock.now()) as undefined)
    const start = clock.now()
    for (const delayMs of [500, 100, 900]) loop.addAfter('a', delayMs)
    await clock.advance(10_000)
    expect(times.map((time) => time - start)).toEqual([100])
  })

  it('retries a conflict immediately, without reporting an error', async () => {
    let runs = 0
    const { loop, errors } = setup(async () => {
      if (++runs < 3) throw conflict()
      return undefined
    })
    loop.add('a')
    await setImmediate()
    expect(runs).toBe(3)
    expect(errors).toEqual([])
  })

  it('retries other failures with increasing delays of at most five minutes', async () => {
    const times: number[] = []
    const { clock, loop, errors } = setup(async () => {
      times.push(clock.now())
      throw new Error('no')
    })
    loop.add('a')
    await clock.advance(3_600_000)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
    expect(gaps[0]).toBeLessThanOrEqual(100)
    expect(gaps[3]).toBeGreaterThan(gaps[2] ?? 0)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(300_000)
    expect(errors.length).toBe(times.length)
    await loop.stop()
    expect(clock.pendingTimers).toBe(0)
  })

  it('also backs off when every attempt ends in a conflict', async () => {
    let runs = 0
    const { clock, loop } = setup(async () => {
      runs += 1
      throw conflict()
    })
    loop.add('a')
    await clock.advance(50)
    expect(runs).toBe(6)
    await loop.stop()
  })

  it('stops when the namespace is being deleted', async () => {
    let runs = 0
    const causes = [{ reason: 'NamespaceTerminating' }]
    const { clock, loop, errors } = setup(async () => {
      runs += 1
      throw new StatusError(403, 'Forbidden', 'namespace x is being terminated', { causes })
    })
    loop.add('a')
    await clock.advance(3_600_000)
    expect(runs).toBe(1)
    expect(errors).toEqual([])
  })

  it('stops: running reconciles finish, none begins, and no timer is left', async () => {
    const seen: string[] = []
    const { clock, loop } = setup(
      async (key, signal) => {
        await setImmediate()
        seen.push(`${key} ${signal.aborted}`)
        return 1_000
      },
      { concurrency: 1 },
    )
    loop.add('a')
    loop.add('b')
    await Promise.resolve()
    const stopped = loop.stop()
    loop.add('c')
    await stopped
    expect(seen).toEqual(['a true'])
    expect(clock.pendingTimers).toBe(0)
    await setImmediate()
    expect(seen).toEqual(['a true'])
  })

  it('loses no key, whatever the order of adds and however long reconciles take', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(2) }), { maxLength: 40 }),
        async (adds) => {
          const added = new Map<string, number>()
          const handled = new Map<string, number>()
          const { loop } = setup(async (key) => {
            const version = added.get(key) ?? 0
            await setImmediate()
            handled.set(key, version)
            return undefined
          })
          for (const { key, turns } of adds) {
            added.set(key, (added.get(key) ?? 0) + 1)
            loop.add(key)
            for (let turn = 0; turn < turns; turn++) await setImmediate()
          }
          while (!loop.isIdle) await setImmediate()
          expect(handled).toEqual(added)
        },
      ),
      { numRuns: 50 },
    )
  })
})
