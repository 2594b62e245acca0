import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fairShare } from './fair-share.ts'
import { shardOf } from './shard-of.ts'

const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)
const key = fc.record({ namespace: name, name })

/** As people and generators name things. */
const series = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ namespace: `team-${at % 50}`, name: `app-${at}` }))

describe('the shard of an object', () => {
  test('is the same in every process and release', () => {
    const shards = ['web', 'db', 'a', 'very-long-name-of-an-application-0001'].map((one) =>
      [1, 2, 8, 64].map((count) => shardOf({ namespace: 'shop', name: one }, count)),
    )
    // Another result would let two replicas of different releases work on one object.
    expect([...shards, [shardOf({ name: 'web' }, 8)]]).toMatchInlineSnapshot(`
      [
        [
          0,
          1,
          7,
          32,
        ],
        [
          0,
          0,
          3,
          13,
        ],
        [
          0,
          1,
          4,
          60,
        ],
        [
          0,
          1,
          2,
          49,
        ],
        [
          2,
        ],
      ]
    `)
  })

  test('is one of the shards, whatever the key', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 256 }), (one, count) => {
        const shard = shardOf(one, count)
        expect(Number.isInteger(shard) && shard >= 0 && shard < count).toBe(true)
        expect(shardOf({ ...one }, count)).toBe(shard)
      }),
    )
  })

  test('stays, or is the new one, when there is one shard more', () => {
    fc.assert(
      fc.property(key, fc.integer({ min: 1, max: 255 }), (one, count) => {
        expect([shardOf(one, count), count]).toContain(shardOf(one, count + 1))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([2, 3, 8, 16, 64])('divides 20,000 objects evenly among %i shards', (count) => {
    const objects = series(20_000)
    const sizes = new Array<number>(count).fill(0)
    for (const one of objects) sizes[shardOf(one, count)] = (sizes[shardOf(one, count)] ?? 0) + 1
    const mean = objects.length / count
    // Five standard deviations of a fair division.
    const tolerance = 5 * Math.sqrt(mean * (1 - 1 / count))
    for (const size of sizes) expect(Math.abs(size - mean)).toBeLessThan(tolerance)
  })

  test('moves the share of the new shard and no more', () => {
    const objects = series(20_000)
    const moved = objects.filter((one) => shardOf(one, 8) !== shardOf(one, 9)).length
    expect(Math.abs(moved - objects.length / 9)).toBeLessThan(5 * Math.sqrt(objects.length / 9))
  })
})

test('fair shares add up, differ by one at most, and do not overlap', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 256 }),
      fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 20 }),
      (shards, members) => {
        const parts = members.map((member) => fairShare(shards, members.toReversed(), member))
        const counts = parts.map(({ count }) => count)
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(shards)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        const first = parts.toSorted((a, b) => a.first - b.first || a.count - b.count)
        for (const [at, part] of first.entries()) {
          expect(part.first + part.count).toBe(first[at + 1]?.first ?? shards)
        }
      },
    ),
  )
})
