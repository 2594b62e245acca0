import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { unpackZip } from './unpack-zip.ts'
import { ZipWriter } from './zip-writer.ts'

async function inFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'zip-writer-'))
  return { path: join(folder, 'a.zip'), unpacked: join(folder, 'out') }
}

it('a zip writer writes entries that can be unpacked, also after one whose content fails', async () => {
  const { path, unpacked } = await inFolder()
  const output = createWriteStream(path)
  const zip = new ZipWriter(output)
  await zip.add('a/first.txt', ['one ', Buffer.from('two')])
  async function* failing() {
    yield 'begun '
    throw new Error('cut off')
  }
  await expect(zip.add('a/broken.txt', failing())).rejects.toThrow('cut off')
  await zip.add('last.txt', ['end'])
  await zip.close()
  await new Promise((resolve) => output.end(resolve))
  await mkdir(unpacked)
  await unpackZip(path, unpacked)
  expect(await readFile(join(unpacked, 'a/first.txt'), 'utf8')).toBe('one two')
  expect(await readFile(join(unpacked, 'a/broken.txt'), 'utf8')).toBe('begun ')
  expect(await readFile(join(unpacked, 'last.txt'), 'utf8')).toBe('end')
})

it('a zip writer waits for a slow reader instead of keeping content in memory', async () => {
  let produced = 0
  const released = Promise.withResolvers<void>()
  const write: Writable['_write'] = (_chunk, _encoding, done) => void released.promise.then(() => done())
  const zip = new ZipWriter(new Writable({ highWaterMark: 1024, write }))
  async function* content() {
    for (; produced < 100; produced += 1) yield randomBytes(65_536)
  }
  const adding = zip.add('large', content())
  await setTimeout(300)
  expect(produced).toBeLessThan(50)
  released.resolve()
  await adding
  await zip.close()
  expect(produced).toBe(100)
})

it('a zip writer fails when the reader goes away', async () => {
  const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('no space left')) })
  output.on('error', () => undefined)
  const zip = new ZipWriter(output)
  const content = Array.from({ length: 50 }, () => Buffer.alloc(100_000, Math.random().toString()))
  await expect(zip.add('x', content).then(() => zip.close())).rejects.toThrow('no space left')
})
