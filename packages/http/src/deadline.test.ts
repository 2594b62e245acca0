import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Deadline, untilAborted, withDeadline } from './deadline.ts'
import { SimulatedClock } from './testing/simulated-clock.ts'

const late = () => new Error('too late')
const never = new Promise<never>(() => undefined)

describe('a deadline', () => {
  it('aborts its signal when the time has passed', async () => {
    const clock = new SimulatedClock()
    using deadline = new Deadline(1_000, { clock, onTimeout: late })
    await clock.advance(999)
    expect(deadline.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(deadline).toMatchObject({ hasPassed: true, signal: { reason: late() } })
  })

  it('aborts with the reason of the caller if that comes first', async () => {
    const clock = new SimulatedClock()
    const caller = new AbortController()
    using deadline = new Deadline(1_000, { clock, signal: caller.signal, onTimeout: late })
    caller.abort(new Error('changed my mind'))
    await clock.advance(2_000)
    expect(deadline.signal.reason).toEqual(new Error('changed my mind'))
    expect(deadline.hasPassed).toBe(false)
  })

  it('has passed immediately when the caller has aborted before', () => {
    using deadline = new Deadline(1_000, {
      clock: new SimulatedClock(),
      signal: AbortSignal.abort(new Error('long ago')),
      onTimeout: late,
    })
    expect(deadline.signal.reason).toEqual(new Error('long ago'))
  })

  it('leaves neither a timer nor a listener behind', async () => {
    const clock = new SimulatedClock()
    const { signal } = new AbortController()
    const deadline = new Deadline(1_000, { clock, signal, onTimeout: late })
    deadline[Symbol.dispose]()
    await clock.advance(2_000)
    expect(deadline.signal.aborted).toBe(false)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('never passes when it is infinitely far away', async () => {
    const clock = new SimulatedClock()
    using deadline = new Deadline(Number.POSITIVE_INFINITY, { clock, onTimeout: late })
    await clock.advance(1e12)
    expect(deadline.signal.aborted).toBe(false)
  })
})

describe('bounded work', () => {
  it('rejects at the deadline even when the work ignores its signal', async () => {
    const clock = new SimulatedClock()
    const result = withDeadline({ clock, timeoutMs: 10, onTimeout: late }, () => never)
    const rejected = expect(result).rejects.toThrow('too late')
    await clock.advance(10)
    await rejected
  })

  it('does not start when the caller has aborted before', async () => {
    const signal = AbortSignal.abort(new Error('long ago'))
    const bounds = { clock: new SimulatedClock(), signal, timeoutMs: 10, onTimeout: late }
    const work = () => Promise.reject(new Error('it began'))
    await expect(withDeadline(bounds, work)).rejects.toThrow('long ago')
  })
})

describe('waiting until a signal aborts', () => {
  it('ends with the promise or with the signal, and removes its listener', async () => {
    const { signal } = new AbortController()
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1)
    await expect(untilAborted(Promise.reject(new Error('failed')), signal)).rejects.toThrow('failed')
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await expect(untilAborted(never, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
    expect(await untilAborted(Promise.resolve(2), undefined)).toBe(2)
  })
})
