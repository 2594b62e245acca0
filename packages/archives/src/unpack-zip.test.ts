import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { makeZip, type ZipEntry } from './testing/make-zip.ts'
import { listing, scratchFolder } from './testing/scratch-folder.ts'
import { DEFAULT_UNPACK_LIMITS, type UnpackOptions, type UnpackProgress } from './unpack-options.ts'
import { unpackZip } from './unpack-zip.ts'

const MIB = 1024 ** 2

async function unpacked(entries: readonly ZipEntry[], options: UnpackOptions = {}) {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'a.zip')
  await makeZip(file, entries)
  await unpackZip(file, scratch.target, options)
  return { files: await listing(scratch.target), outside: await readdir(scratch.path) }
}

it('unpackZip unpacks folders and files with their permissions, but never more than those', async () => {
  const { files } = await unpacked([
    { name: 'agent/', mode: 0o40750 },
    { name: 'agent/bin/run', content: 'run', mode: 0o104755 },
    { name: './agent/empty', mode: 0o100600 },
    { name: 'agent/nomode', content: 'x', mode: 0o100000 },
  ])
  expect(files).toEqual({
    agent: '750 /',
    'agent/bin': '755 /',
    'agent/bin/run': '755 run',
    'agent/empty': '600 ',
    'agent/nomode': '644 x',
  })
})

it('unpackZip lets the caller choose the permissions of files by their path', async () => {
  const fileMode = (path: string, mode: number) => (path.startsWith('shared/') ? 0o666 : mode)
  const { files } = await unpacked([{ name: './shared/a', content: 'c' }, { name: 'own/b' }], { fileMode })
  expect(files).toMatchObject({ 'shared/a': '666 c', 'own/b': '644 ' })
})

it('unpackZip writes a symbolic link as a file with the target as its content', async () => {
  const { files } = await unpacked([{ name: 'link', content: '/etc/passwd', mode: 0o120777 }])
  expect(files).toEqual({ link: '777 /etc/passwd' })
})

it.each(['../x', 'a/../../x', '/etc/x', 'a\\..\\x', 'a\0b', `${'a/'.repeat(70)}x`, 'n'.repeat(300), '..'])(
  'unpackZip refuses an entry named %j and writes nothing outside',
  async (name) => {
    await using scratch = await scratchFolder()
    const file = join(scratch.path, 'a.zip')
    await makeZip(file, [{ name, content: 'evil' }])
    await expect(unpackZip(file, scratch.target)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
    expect(await readdir(scratch.path)).toEqual(['a.zip', 'target'])
    expect(await readdir(scratch.target)).toEqual([])
  },
)

it.each([[['a', 'a']], [['a', './a']], [['a', 'a/b']], [['a/b', 'a']], [['a', 'a/']]])(
  'unpackZip refuses entries that overwrite each other: %j',
  async (names) => {
    const entries = names.map((name) => ({ name, content: 'x' }))
    await expect(unpacked(entries)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
  },
)

it('unpackZip refuses an entry that overwrites another and breaks off, without opening it', async () => {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'a.zip')
  await makeZip(file, [{ name: 'a' }, { name: 'a', content: 'x' }])
  const bytes = await readFile(file)
  // The content of the second entry, three bytes of deflate, becomes the beginning of a block that never ends.
  Buffer.of(0xab, 0x04, 0x5b).copy(bytes, bytes.lastIndexOf(Buffer.from('504b0304', 'hex')) + 31)
  await writeFile(file, bytes)
  const unhandled: unknown[] = []
  const onError = (error: unknown) => unhandled.push(error)
  process.on('uncaughtException', onError)
  try {
    await expect(unpackZip(file, scratch.target)).rejects.toMatchObject({ code: 'ARCHIVE_UNSAFE' })
    // The stream of an opened entry fails once it has been read, some event loop turns later.
    await setTimeout(50)
    expect(unhandled).toEqual([])
  } finally {
    process.off('uncaughtException', onError)
  }
})

it('unpackZip skips devices and pipes and reports them', async () => {
  const skipped: unknown[] = []
  const entries = [{ name: 'device', mode: 0o060644 }, { name: 'pipe', mode: 0o010644 }, { name: 'file' }]
  const { files } = await unpacked(entries, { onSkip: (entry) => skipped.push(entry) })
  expect(Object.keys(files)).toEqual(['file'])
  expect(skipped).toEqual([
    { name: 'device', reason: 'special-file' },
    { name: 'pipe', reason: 'special-file' },
  ])
})

it('unpackZip stops at its limits for entries and bytes', async () => {
  const entries = [
    { name: 'a', content: 'x'.repeat(600) },
    { name: 'b', content: 'x'.repeat(600) },
  ]
  for (const limits of [{ maxEntries: 1 }, { maxTotalBytes: 1_000 }]) {
    const options = { limits: { ...DEFAULT_UNPACK_LIMITS, ...limits } }
    await expect(unpacked(entries, options)).rejects.toMatchObject({ code: 'ARCHIVE_TOO_LARGE' })
  }
})

it('unpackZip refuses a bomb while it unpacks, before it fills the disk', async () => {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'a.zip')
  await makeZip(file, [{ name: 'bomb', content: Buffer.alloc(64 * MIB) }])
  await expect(unpackZip(file, scratch.target)).rejects.toThrow(/may be a decompression bomb/)
  const { size } = await stat(join(scratch.target, 'bomb'))
  expect(size).toBeLessThan(17 * MIB)
})

it('unpackZip refuses an entry that is larger than it says', async () => {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'a.zip')
  await makeZip(file, [{ name: 'a', content: 'x'.repeat(1_000) }])
  const bytes = await readFile(file)
  const declared = bytes.indexOf(Buffer.from('504b0102', 'hex')) + 24
  bytes.writeUInt32LE(10, declared)
  await writeFile(file, bytes)
  await expect(unpackZip(file, scratch.target)).rejects.toThrow('the size of "a" does not match')
})

it('unpackZip rejects damaged archives and other files', async () => {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'a.zip')
  await makeZip(file, [{ name: 'a', content: 'some content', isCompressed: false }])
  const bytes = await readFile(file)
  const flipped = Buffer.from(bytes)
  flipped.write('S', bytes.indexOf('some content'))
  for (const broken of [flipped, bytes.subarray(0, -10), Buffer.from('<html>'), Buffer.alloc(0)]) {
    await writeFile(file, broken)
    await using fresh = await scratchFolder()
    await expect(unpackZip(file, fresh.target)).rejects.toMatchObject({ code: 'ARCHIVE_INVALID' })
  }
})

it('unpackZip reports its progress, and stops when aborted', async () => {
  const entries = Array.from({ length: 20 }, (_, index) => ({ name: `file-${index}`, content: 'x'.repeat(100) }))
  const seen: UnpackProgress[] = []
  await unpacked(entries, { onProgress: (progress) => seen.push(progress) })
  expect(seen.at(-1)).toEqual({ entries: 20, bytes: 2_000 })
  const stop = new AbortController()
  const reason = new Error('enough')
  const onProgress = ({ entries }: UnpackProgress) => entries === 5 && stop.abort(reason)
  await expect(unpacked(entries, { onProgress, signal: stop.signal })).rejects.toBe(reason)
})
