/** Fuzzes the unpacking of tar archives. */
import { gzipSync } from 'node:zlib'
import { attemptAsync, filesIn, fuzz } from '@reeve/fuzz'
import fc from 'fast-check'
import { ArchiveError } from '../src/archive-error.ts'
import { inPieces, makeTar } from '../src/testing/make-tar.ts'
import { unpackTar } from '../src/unpack-tar.ts'
import { hostileName, LIMITS, nothingEscaped } from './support/unpacking.ts'

const entry = fc.record({
  path: hostileName,
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constant('File' as const) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('Directory', 'SymbolicLink', 'Link', 'FIFO', 'CharacterDevice', 'OldFile'),
    },
  ),
  linkpath: hostileName,
  content: fc.constantFrom('', 'x', 'y'.repeat(600)),
  mode: fc.constantFrom(0o644, 0o7777, 0),
})

fuzz('tar-archive', {
  inputs: fc.array(entry, { maxLength: 5 }).map((entries) => makeTar(entries)),
  seeds: [
    ...filesIn(new URL('./corpus/tar-archive/', import.meta.url)),
    makeTar([
      { path: 'agent/', type: 'Directory' },
      { path: 'agent/bin', content: 'x' },
      { path: 'agent/link', type: 'SymbolicLink', linkpath: 'bin' },
    ]),
    makeTar([
      { path: 'a', content: '30 path=../escaped\n', type: 'ExtendedHeader' },
      { path: 'b', content: 'x' },
    ]),
    makeTar([
      { path: 'a', content: 'long/name', type: 'NextFileHasLongPath' },
      { path: 'b', content: 'x' },
    ]),
  ],
  dictionary: [
    'ustar\0',
    '../',
    '/etc',
    '0000644\0',
    '00000001000\0',
    '\x80\0\0\0\0\0\x10\0',
    '5',
    '2',
    '1',
    'x',
    'L',
    '\x1f\x8b\x08',
    'path=',
    'linkpath=',
    'GNU.sparse.size=9999999999',
  ],
  packed: [(input) => gzipSync(input)],
  async run(input) {
    for (const compression of ['none', 'gzip'] as const) {
      await nothingEscaped((folder) =>
        attemptAsync(() => unpackTar(inPieces(input, 700), compression, folder, { limits: LIMITS }), ArchiveError),
      )
    }
  },
})
