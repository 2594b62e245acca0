import { describe, expect, it } from 'vitest'
import { MemoryRelease, ownHeap } from './release-memory.ts'

const MIB = 1024 * 1024
const COLLECTION_MS = 40

/** A heap that shrinks to what it uses. */
class FakeHeap {
  now = 0
  committed = 20 * MIB
  used = 12 * MIB
  collections = 0
  committedBytes = () => this.committed
  usedBytes = () => this.used
  collect = () => {
    this.collections += 1
    this.committed = this.used
    this.now += COLLECTION_MS
  }
}

function scenario() {
  const heap = new FakeHeap()
  return { heap, release: new MemoryRelease(heap, () => heap.now) }
}

describe('the release of memory', () => {
  it('waits until the process rests', () => {
    const { heap, release } = scenario()
    release.check(0.5)
    expect(heap.collections).toBe(0)
    release.check(0.01)
    expect(heap.collections).toBe(1)
  })

  it('collects once, and again only after the heap has grown', () => {
    const { heap, release } = scenario()
    for (let second = 0; second < 60; second += 1) {
      heap.now += 1_000
      release.check(0)
    }
    expect(heap.collections).toBe(1)
    heap.committed += 8 * MIB
    release.check(0)
    expect(heap.collections).toBe(2)
  })

  it('takes at most a hundredth of the time', () => {
    const { heap, release } = scenario()
    while (heap.now < 60_000) {
      heap.now += 1_000
      heap.committed += 8 * MIB
      release.check(0)
    }
    expect(heap.collections).toBeGreaterThan(1)
    expect(heap.collections * COLLECTION_MS).toBeLessThanOrEqual(heap.now / 100)
  })

  it('leaves a large heap alone, whose collection would be a long pause', () => {
    const { heap, release } = scenario()
    heap.used = 200 * MIB
    heap.committed = 300 * MIB
    release.check(0)
    expect(heap.collections).toBe(0)
  })

  it('returns to the system what the process no longer uses', () => {
    let garbage: object[] | undefined = Array.from({ length: 400_000 }, (_, index) => ({ index }))
    const grown = ownHeap.committedBytes()
    expect(garbage).toHaveLength(400_000)
    garbage = undefined
    ownHeap.collect()
    expect(ownHeap.committedBytes()).toBeLessThan(grown - 8 * MIB)
    expect('gc' in globalThis).toBe(false)
  })
})
