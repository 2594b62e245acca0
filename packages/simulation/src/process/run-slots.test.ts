import { describe, expect, it } from 'vitest'
import { RunSlots } from './run-slots.ts'
import { spareTime } from './spare-time.ts'

/** Starts `count` runs; `end` ends one of them. */
function started(slots: RunSlots, count: number) {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const all = Array.from({ length: count }, (_, index) =>
    slots.run(() => {
      begun.push(index)
      return new Promise<void>((resolve) => {
        ends[index] = resolve
      })
    }),
  )
  return { begun, end: (index: number) => ends[index]?.(), all }
}

describe('places for runs', () => {
  it('are as few as the minimum on a busy machine, and taken in order', async () => {
    const { begun, end, all } = started(new RunSlots({ min: 2, max: 4, hasSpareTime: () => false, lookMs: 1 }), 4)
    await expect.poll(() => begun).toEqual([0, 1])
    end(1)
    await expect.poll(() => begun).toEqual([0, 1, 2])
    end(0)
    await expect.poll(() => begun).toEqual([0, 1, 2, 3])
    for (const index of [2, 3]) end(index)
    await Promise.all(all)
  })

  it('are as many as the maximum on one that mostly waits', async () => {
    const { begun, end, all } = started(new RunSlots({ min: 1, max: 3, hasSpareTime: () => true, lookMs: 1 }), 5)
    await expect.poll(() => begun).toEqual([0, 1, 2])
    for (const index of [0, 1, 2]) end(index)
    await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4])
    for (const index of [3, 4]) end(index)
    await Promise.all(all)
  })

  it('are free again after a run that fails', async () => {
    const slots = new RunSlots({ min: 1, max: 1, hasSpareTime: () => false })
    await expect(slots.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await slots.run(() => Promise.resolve('yes'))).toBe('yes')
  })
})

describe('spare time', () => {
  it('is a share of the time in which processors were idle since the last look', () => {
    const looks = [
      { idle: 100, total: 1_000 },
      { idle: 600, total: 2_000 },
      { idle: 601, total: 2_001 },
      { idle: 700, total: 3_000 },
    ]
    const hasSpareTime = spareTime(() => looks.shift() ?? { idle: 0, total: 0 })
    expect([hasSpareTime(), hasSpareTime(), hasSpareTime()]).toEqual([true, true, false])
  })
})
