import { describe, expect, it } from 'vitest'
import { HelmBusyError } from '../errors.ts'
import { ProcessSlots } from './process-slots.ts'

const forever = new AbortController().signal

describe('ProcessSlots', () => {
  it('runs no more concurrently than allowed, and the others in order', async () => {
    const slots = new ProcessSlots({ maxConcurrent: 2, maxWaiting: 10 })
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
    const started: number[] = []
    const done = gates.map((gate, index) =>
      slots.run(async () => {
        started.push(index)
        await gate.promise
      }, forever),
    )
    await Promise.resolve()
    expect(started).toEqual([0, 1])
    gates[1]?.resolve()
    await done[1]
    await Promise.resolve()
    expect(started).toEqual([0, 1, 2])
    for (const gate of gates) gate.resolve()
    await Promise.all(done)
    expect(started).toEqual([0, 1, 2, 3, 4])
  })

  it('frees the place of work that failed', async () => {
    const slots = new ProcessSlots({ maxConcurrent: 1, maxWaiting: 0 })
    await expect(slots.run(() => Promise.reject(new Error('broken')), forever)).rejects.toThrow('broken')
    expect(await slots.run(async () => 'next', forever)).toBe('next')
  })

  it('fails when too many wait', async () => {
    const slots = new ProcessSlots({ maxConcurrent: 1, maxWaiting: 0 })
    const gate = Promise.withResolvers<void>()
    const first = slots.run(() => gate.promise, forever)
    await expect(slots.run(async () => undefined, forever)).rejects.toThrow(HelmBusyError)
    gate.resolve()
    await first
  })

  it('removes an aborted waiter without losing its slot', async () => {
    const slots = new ProcessSlots({ maxConcurrent: 1, maxWaiting: 10 })
    const gate = Promise.withResolvers<void>()
    const first = slots.run(() => gate.promise, forever)
    const abort = new AbortController()
    const second = slots.run(async () => 'second', abort.signal)
    const third = slots.run(async () => 'third', forever)
    abort.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    gate.resolve()
    expect(await third).toBe('third')
    await first
  })

  it('gives groups turns, however many of one wait, and never all slots to one', async () => {
    const slots = new ProcessSlots({ maxConcurrent: 2, maxWaiting: 100 })
    const started: string[] = []
    const gates = new Map<string, () => void>()
    const run = (group: string, name: string) =>
      slots.run(
        () => {
          started.push(name)
          return new Promise<void>((resolve) => gates.set(name, resolve))
        },
        forever,
        group,
      )
    const end = async (name: string) => {
      gates.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name))
    await Promise.resolve()
    expect(started).toEqual(['a1'])
    all.push(run('b', 'b1'), run('b', 'b2'), run('c', 'c1'))
    await Promise.resolve()
    expect(started).toEqual(['a1', 'b1'])
    await end('a1')
    expect(started).toEqual(['a1', 'b1', 'c1'])
    await end('b1')
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2'])
    await end('a2')
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2'])
    for (const name of ['b2', 'c1', 'a3', 'a4']) await end(name)
    await Promise.all(all)
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })
})
