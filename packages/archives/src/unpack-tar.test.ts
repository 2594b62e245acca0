import { readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { inPieces, makeTar, type TarEntry, tarGz } from './testing/make-tar.ts'
import { listing, scratchFolder } from './testing/scratch-folder.ts'
import { DEFAULT_UNPACK_LIMITS, type SkippedEntry, type UnpackOptions } from './unpack-options.ts'
import { unpackTar } from './unpack-tar.ts'

async function unpacked(entries: readonly TarEntry[], options: UnpackOptions = {}) {
  await using scratch = await scratchFolder()
  const skipped: SkippedEntry[] = []
  const onSkip = (entry: SkippedEntry) => skipped.push(entry)
  await unpackTar(tarGz(entries), 'gzip', scratch.target, { onSkip, ...options })
  expect(await readdir(scratch.path)).toEqual(['target'])
  return { files: await listing(scratch.target), skipped }
}
/** As the kernel lists them for this process. */
async function openFilesBelow(folder: string): Promise<readonly string[]> {
  const descriptors = await readdir('/proc/self/fd')
  const files = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return files.filter((file) => file.startsWith(folder))
}
const MIB = 1024 ** 2
const symlink = (path: string, linkpath: string): TarEntry => ({ path, linkpath, type: 'SymbolicLink' })
const hardLink = (path: string, linkpath: string): TarEntry => ({ path, linkpath, type: 'Link' })

describe('unpackTar', () => {
  it('unpacks folders, files and links', async () => {
    const { files } = await unpacked([
      { path: 'agent/', type: 'Directory', mode: 0o750 },
      { path: 'agent/bin/', type: 'Directory', mode: 0o555 },
      { path: 'agent/bin/run', content: 'x'.repeat(700), mode: 0o4755 },
      symlink('agent/current', 'bin'),
      symlink('agent/bin/later', '../made-later'),
      hardLink('agent/copy', 'agent/bin/run'),
      { path: 'agent/made-later' },
    ])
    expect(files).toEqual({
      agent: '750 /',
      'agent/bin': '755 /',
      'agent/bin/later': '-> ../made-later',
      'agent/bin/run': `755 ${'x'.repeat(700)}`,
      'agent/copy': `755 ${'x'.repeat(700)}`,
      'agent/current': '-> bin',
      'agent/made-later': '644 ',
    })
  })

  it('skips links that point outside and continues', async () => {
    const { files, skipped } = await unpacked([
      symlink('absolute', '/etc/passwd'),
      symlink('a/climbing', '../../../etc/passwd'),
      symlink('a/just-outside', '../../outside.txt'),
      symlink('a/fine', '../file'),
      { path: 'file' },
    ])
    expect(files).toEqual({ a: '755 /', 'a/fine': '-> ../file', file: '644 ' })
    expect(skipped.map(({ name }) => name)).toEqual(['absolute', 'a/climbing', 'a/just-outside'])
  })

  it('sees through links that lead outside only together', async () => {
    const { skipped } = await unpacked([
      { path: 'p/q/', type: 'Directory', mode: 0o755 },
      symlink('p/q/root', '../..'),
      symlink('escape', 'p/q/root/../outside'),
      symlink('loop', 'loop'),
    ])
    expect(skipped.map(({ name }) => name)).toEqual(['escape', 'loop'])
  })

  it.each([
    [[symlink('dir', 'elsewhere'), { path: 'dir/file' }]],
    [[{ path: 'dir/file' }, symlink('dir', '/tmp')]],
    [[symlink('x', 'a'), { path: 'x', content: 'through the link' }]],
    [[{ path: 'a' }, { path: './a' }]],
    [[{ path: '../x' }]],
    [[{ path: '/x' }]],
    [[hardLink('x', '../../etc/passwd')]],
    [[hardLink('x', '/etc/passwd')]],
    [[hardLink('x', 'missing')]],
    [[symlink('s', 'a'), hardLink('x', 's'), { path: 'a' }]],
  ] satisfies [TarEntry[]][])('refuses %j', async (entries) => {
    await expect(unpacked(entries)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
  })

  it('leaves out devices and pipes', async () => {
    const types = ['CharacterDevice', 'BlockDevice', 'FIFO'] as const
    const { files, skipped } = await unpacked(types.map((type) => ({ path: type, type })))
    expect(files).toEqual({})
    expect(skipped.map(({ reason }) => reason)).toEqual(['special-file', 'special-file', 'special-file'])
  })

  it('stops at its limits', async () => {
    const entries = [
      { path: 'a', content: 'x'.repeat(600) },
      { path: 'b', content: 'x'.repeat(600) },
    ]
    for (const limits of [{ maxEntries: 1 }, { maxTotalBytes: 1_000 }]) {
      const options = { limits: { ...DEFAULT_UNPACK_LIMITS, ...limits } }
      await expect(unpacked(entries, options)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
    }
    await expect(unpacked([{ path: 'bomb', content: '\0'.repeat(17 * 1024 ** 2) }])).rejects.toThrow(/bomb/)
  })

  it('rejects content that is not an archive, is truncated, or has another compression', async () => {
    const whole = makeTar([{ path: 'a', content: 'x'.repeat(5_000) }])
    for (const [bytes, compression] of [
      [Buffer.from('no tar at all'.repeat(100)), 'none'],
      [whole, 'gzip'],
      [gzipSync(whole), 'none'],
      [gzipSync(gzipSync(whole)), 'gzip'],
      [gzipSync(whole).subarray(0, -20), 'gzip'],
      [whole.subarray(0, 2_000), 'none'],
    ] as const) {
      await using scratch = await scratchFolder()
      const outcome = unpackTar(inPieces(bytes), compression, scratch.target)
      await expect(outcome).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
    }
  })

  it('ends when a file is cut off behind a header that is damaged', async () => {
    const whole = makeTar([
      { path: 'agent/', type: 'Directory' },
      { path: 'agent/bin', content: 'x' },
    ])
    whole[0x1b1] = 1
    for (const length of [1_024, 1_032, 1_200, 1_535]) {
      await using scratch = await scratchFolder()
      const outcome = unpackTar(inPieces(whole.subarray(0, length), 700), 'none', scratch.target)
      await expect(outcome).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
    }
  })

  it('refuses a bomb while it unpacks, before it fills the disk', async () => {
    await using scratch = await scratchFolder()
    const bomb = tarGz([{ path: 'bomb', content: '\0'.repeat(64 * MIB) }])
    await expect(unpackTar(bomb, 'gzip', scratch.target)).rejects.toThrow(/may be a decompression bomb/)
    const { size } = await stat(join(scratch.target, 'bomb'))
    expect(size).toBeLessThan(17 * MIB)
    if (process.platform === 'linux') expect(await openFilesBelow(scratch.target)).toEqual([])
  })

  it.runIf(process.platform === 'linux')(
    'leaves no file open when it fails in the middle of one (skipped except on Linux)',
    async () => {
      await using scratch = await scratchFolder()
      async function* cutOff() {
        yield makeTar([{ path: 'a', content: 'x'.repeat(5_000) }]).subarray(0, 2_000)
        throw new Error('connection lost')
      }
      await expect(unpackTar(cutOff(), 'none', scratch.target)).rejects.toThrow('connection lost')
      expect(await openFilesBelow(scratch.target)).toEqual([])
    },
  )

  it('fails with the error of its source, and stops when aborted', async () => {
    await using scratch = await scratchFolder()
    const lost = new Error('connection lost')
    async function* broken() {
      yield gzipSync(makeTar([{ path: 'a', content: 'x'.repeat(5_000) }])).subarray(0, 50)
      throw lost
    }
    await expect(unpackTar(broken(), 'gzip', scratch.target)).rejects.toBe(lost)
    const signal = AbortSignal.abort(lost)
    await expect(unpackTar(tarGz([{ path: 'b' }]), 'gzip', scratch.target, { signal })).rejects.toBe(lost)
  })
})
