/** Fuzzes the unpacking of ZIPs. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { attemptAsync, fuzz } from '@reeve/fuzz'
import fc from 'fast-check'
import { ArchiveError } from '../src/archive-error.ts'
import { makeZip, type ZipEntry } from '../src/testing/make-zip.ts'
import { scratchFolder } from '../src/testing/scratch-folder.ts'
import { unpackZip } from '../src/unpack-zip.ts'
import { LIMITS, nothingEscaped } from './support/unpacking.ts'

/** Creating ZIPs is slow: all combinations of these are created once. */
const archives: readonly (readonly ZipEntry[])[] = [
  [
    { name: 'agent/' },
    { name: 'agent/bin', content: 'x', mode: 0o100755 },
    { name: 'agent/conf/a', content: 'y'.repeat(500) },
  ],
  [
    { name: '../escaped', content: 'x' },
    { name: '/etc/x', content: 'y' },
  ],
  [
    { name: 'a', content: 'x', isCompressed: false },
    { name: 'a', content: 'y' },
  ],
  [
    { name: 'link', content: '/etc/passwd', mode: 0o120777 },
    { name: 'pipe', mode: 0o010644 },
  ],
  [{ name: 'bomb', content: Buffer.alloc(200_000) }],
  [],
]

async function zipped(entries: readonly ZipEntry[]): Promise<Buffer> {
  await using scratch = await scratchFolder()
  const file = join(scratch.path, 'archive.zip')
  await makeZip(file, entries)
  return readFile(file)
}

const seeds = await Promise.all(archives.map(zipped))

fuzz('zip-archive', {
  inputs: fc.constantFrom(...seeds),
  seeds,
  dictionary: [
    'PK\x03\x04',
    'PK\x01\x02',
    'PK\x05\x06',
    'PK\x06\x06',
    'PK\x06\x07',
    'PK\x07\x08',
    '../',
    '/',
    '\xff\xff\xff\xff',
    '\xff\xff',
    '\x08\0',
    '\0\0',
    'a',
    '\\',
  ],
  async run(input) {
    await using scratch = await scratchFolder()
    const file = join(scratch.path, 'archive.zip')
    await writeFile(file, input)
    await nothingEscaped((folder) => attemptAsync(() => unpackZip(file, folder, { limits: LIMITS }), ArchiveError))
  },
})
