import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { digestOf } from '@reeve/oci'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChartInvalidError } from '../errors.ts'
import { ChartCache } from './chart-cache.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-chart-cache-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const archive = (letter: string, sizeBytes = 40) => Buffer.alloc(sizeBytes, letter)
const archives = () => join(folder, 'archives')

async function sizeOf(path: string): Promise<number> {
  const sizes = (await readdir(path)).map(async (name) => (await stat(join(path, name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** Sets the time when a file was last used. */
async function age(bytes: Buffer, minutes: number): Promise<void> {
  const then = new Date(Date.now() - minutes * 60_000)
  await utimes(join(archives(), `${digestOf(bytes).slice(7)}.tgz`), then, then)
}

describe('ChartCache', () => {
  it('returns what it stores, also to another process', async () => {
    const path = await new ChartCache(folder).store(archive('a'))
    const found = await new ChartCache(folder).find(digestOf(archive('a')))
    expect(found).toEqual({ path, bytes: archive('a') })
    expect(await new ChartCache(folder).find(digestOf(archive('b')))).toBeUndefined()
  })

  it('evicts the least recently used ones first', async () => {
    const cache = new ChartCache(folder, { maxBytes: 100 })
    await cache.store(archive('a'))
    await cache.store(archive('b'))
    await age(archive('a'), 20)
    await age(archive('b'), 10)
    await cache.find(digestOf(archive('a')))
    await cache.store(archive('c'))
    expect(await cache.find(digestOf(archive('b')))).toBeUndefined()
    expect(await cache.find(digestOf(archive('a')))).toBeDefined()
    expect(await cache.find(digestOf(archive('c')))).toBeDefined()
  })

  it('never keeps more than its size, and always what came last', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...'abcdefgh'), fc.integer({ min: 1, max: 100 })), { maxLength: 12 }),
        async (stored) => {
          const own = await mkdtemp(join(folder, 'law-'))
          const cache = new ChartCache(own, { maxBytes: 100 })
          for (const [letter, sizeBytes] of stored) {
            const bytes = archive(letter, sizeBytes)
            await cache.store(bytes)
            expect(await sizeOf(join(own, 'archives'))).toBeLessThanOrEqual(100)
            expect((await cache.find(digestOf(bytes)))?.bytes).toEqual(bytes)
          }
        },
      ),
      { numRuns: 30 },
    )
  })

  it('keeps within its size when many store concurrently', async () => {
    const caches = [new ChartCache(folder, { maxBytes: 100 }), new ChartCache(folder, { maxBytes: 100 })]
    await Promise.all([...'abcdefghij'].map((letter, index) => caches[index % 2]?.store(archive(letter))))
    await caches[0]?.store(archive('z'))
    expect(await sizeOf(archives())).toBeLessThanOrEqual(100)
  })

  it('rejects an archive that is larger than the cache', async () => {
    await expect(new ChartCache(folder, { maxBytes: 10 }).store(archive('a'))).rejects.toThrow(ChartInvalidError)
  })

  it('takes a damaged file for absent, and heals it', async () => {
    const cache = new ChartCache(folder)
    const path = await cache.store(archive('a'))
    await writeFile(path, 'half of')
    expect(await cache.find(digestOf(archive('a')))).toBeUndefined()
    await cache.store(archive('a'))
    expect(await readFile(path)).toEqual(archive('a'))
  })

  it('removes leftovers of a crash, but not files that may still be written', async () => {
    const cache = new ChartCache(folder)
    await cache.store(archive('a'))
    const [old, young] = [join(archives(), 'x.tgz.1.tmp'), join(archives(), 'x.tgz.2.tmp')]
    await writeFile(old, 'old')
    await writeFile(young, 'young')
    await utimes(old, new Date(0), new Date(0))
    await cache.store(archive('b'))
    const names = await readdir(archives())
    expect(names).not.toContain('x.tgz.1.tmp')
    expect(names).toContain('x.tgz.2.tmp')
  })

  it('remembers responses of sources, and discards unreadable entries', async () => {
    const cache = new ChartCache(folder)
    const digest = digestOf(archive('a'))
    await cache.remember('some source', { digest })
    expect(await new ChartCache(folder).recall('some source')).toEqual({ digest })
    expect(await cache.recall('another')).toBeUndefined()
    const [file = ''] = await readdir(join(folder, 'answers'))
    for (const text of ['{"digest":', '{"digest":"../../x"}', '[]']) {
      await writeFile(join(folder, 'answers', file), text)
      expect(await cache.recall('some source')).toBeUndefined()
    }
  })
})
