import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { withBuildLock } from './build-lock.ts'

describe('the build lock', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'build-lock-'))
    path = join(folder, 'lock')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('admits one builder at a time and notifies the one that waits', async () => {
    let inside = 0
    let most = 0
    let waited = 0
    const build = async () => {
      inside += 1
      most = Math.max(most, inside)
      await new Promise(setImmediate)
      inside -= 1
    }
    const onWaiting = () => {
      waited += 1
    }
    await Promise.all([withBuildLock(path, build, { onWaiting }), withBuildLock(path, build, { onWaiting })])
    expect([most, waited]).toEqual([1, 1])
  })

  it('is released when the build fails', async () => {
    await expect(withBuildLock(path, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(existsSync(path)).toBe(false)
  })

  it('is taken over from a builder that was killed', async () => {
    await writeFile(path, '')
    const longAgo = new Date(Date.now() - 3_600_000)
    await utimes(path, longAgo, longAgo)
    expect(await withBuildLock(path, async () => 'built')).toBe('built')
  })

  it('stops waiting when aborted', async () => {
    await writeFile(path, '')
    const signal = AbortSignal.timeout(10)
    await expect(withBuildLock(path, async () => 'built', { signal })).rejects.toThrow()
  })
})
