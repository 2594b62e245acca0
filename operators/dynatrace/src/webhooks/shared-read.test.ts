import { describe, expect, it } from 'vitest'
import { SharedRead } from './shared-read.ts'

/** Reads that end when the test says so, with what was stored when they started. */
function setUp() {
  const started: { readonly key: string; readonly end: () => void; readonly fail: () => void }[] = []
  let stored = 0
  const reads = new SharedRead((key) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const found = stored
    started.push({ key, end: () => resolve(found), fail: () => reject(new Error('refused')) })
    return promise
  })
  const write = (value: number) => {
    stored = value
  }
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { reads, started, write, settle }
}

describe('a shared read', () => {
  it('is one for all who asked while another was running', async () => {
    const { reads, started, settle } = setUp()
    const first = reads.of('a')
    const others = [reads.of('a'), reads.of('a'), reads.of('a')]
    expect(started).toHaveLength(1)
    started[0]?.end()
    await first
    await settle()
    expect(started).toHaveLength(2)
    started[1]?.end()
    await Promise.all(others)
    expect(started).toHaveLength(2)
  })

  it('never started before it was asked for', async () => {
    const { reads, started, write, settle } = setUp()
    const before = reads.of('a')
    write(1)
    const after = reads.of('a')
    started[0]?.end()
    await settle()
    started[1]?.end()
    expect([await before, await after]).toEqual([0, 1])
  })

  it('is not kept: who asks later reads again', async () => {
    const { reads, started, write } = setUp()
    const first = reads.of('a')
    started[0]?.end()
    expect(await first).toBe(0)
    write(1)
    const second = reads.of('a')
    started[1]?.end()
    expect(await second).toBe(1)
  })

  it('of one key does not wait for that of another', () => {
    const { reads, started } = setUp()
    void reads.of('a')
    void reads.of('b')
    expect(started.map(({ key }) => key)).toEqual(['a', 'b'])
  })

  it('that fails, fails for those who share it and for nobody else', async () => {
    const { reads, started, settle } = setUp()
    const first = reads.of('a')
    const second = reads.of('a')
    started[0]?.fail()
    await expect(first).rejects.toThrow('refused')
    await settle()
    started[1]?.end()
    expect(await second).toBe(0)
  })
})
