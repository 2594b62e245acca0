import { describe, expect, it } from 'vitest'
import { WorkSet } from './work-set.ts'

/** Work that ends when the test completes it. */
function controlledWork() {
  const started: string[] = []
  const ends: (() => void)[] = []
  const work = (key: string) => {
    started.push(key)
    return new Promise<void>((resolve) => ends.push(resolve))
  }
  const endNext = async () => {
    ends.shift()?.()
    await new Promise(setImmediate)
  }
  return { started, work, endNext }
}

describe('a work set', () => {
  it('processes no more keys at once than allowed', async () => {
    const { started, work, endNext } = controlledWork()
    const set = new WorkSet(work, 2)
    for (const key of ['a', 'b', 'c']) set.add(key)
    expect(started).toEqual(['a', 'b'])
    await endNext()
    expect(started).toEqual(['a', 'b', 'c'])
  })

  it('processes a key once however often it is added meanwhile, and then once more', async () => {
    const { started, work, endNext } = controlledWork()
    const set = new WorkSet(work, 2)
    for (let count = 0; count < 5; count += 1) set.add('a')
    expect(started).toEqual(['a'])
    await endNext()
    expect(started).toEqual(['a', 'a'])
    await endNext()
    expect(started).toEqual(['a', 'a'])
  })

  it('waits for work in progress when stopped, and drops the rest', async () => {
    const { started, work, endNext } = controlledWork()
    const set = new WorkSet(work, 1)
    set.add('a')
    set.add('b')
    const stopped = set.stop()
    await endNext()
    await stopped
    set.add('c')
    expect(started).toEqual(['a'])
  })
})
