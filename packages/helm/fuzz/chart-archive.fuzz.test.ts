/** Fuzzes chart archives and their Chart.yaml. */
import { gzipSync } from 'node:zlib'
import { attempt, attemptAsync, fuzz, textOf } from '@reeve/fuzz'
import fc from 'fast-check'
import { inspectArchive, parseMetadata } from '../src/chart/inspect-chart.ts'
import { HelmError } from '../src/errors.ts'
import { packChart, packEntries } from '../src/testing/pack-chart.ts'

const path = fc.constantFrom(
  'web/Chart.yaml',
  'web/values.yaml',
  '../x',
  '/etc/passwd',
  'web/templates/a.yaml',
  'C:x',
  '',
)
const content = fc.constantFrom(
  'name: web\nversion: 1.0.0\n',
  'name: &n web\nversion: *n\n',
  'name: ..\nversion: x',
  '[',
  '',
)
const type = fc.constantFrom('File', 'Directory', 'SymbolicLink', 'Link', 'FIFO')
const entries = fc.array(
  fc.record({
    path,
    content,
    type: fc.oneof({ weight: 3, arbitrary: fc.constant('File' as const) }, { weight: 1, arbitrary: type }),
  }),
  { maxLength: 4 },
)

fuzz('chart-archive', {
  inputs: fc.oneof(
    entries.map((list) => packEntries(list)),
    content,
  ),
  seeds: [
    packChart({ name: 'web', version: '1.2.3' }, { 'templates/a.yaml': 'kind: Pod' }),
    'apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: 2\n',
  ],
  dictionary: ['name: ', 'version: ', '&a ', '*a', 'ustar\0', '0000644\0', '\x1f\x8b\x08'],
  packed: [(input) => gzipSync(input)],
  async run(input) {
    const limits = { maxUnpackedBytes: 1024 * 1024, maxFiles: 100 }
    await attemptAsync(() => inspectArchive(input, 'web', limits), HelmError)
    attempt(() => parseMetadata(textOf(input), 'web'), HelmError)
  },
})
