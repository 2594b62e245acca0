/** Fuzzes chart archives and their Chart.yaml. */
import { gzipSync } from 'node:zlib'
import { attempt, attemptAsync, type FuzzTarget, isA, textOf } from '@reeve/fuzz'
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

export const target: FuzzTarget = {
  description: 'chart archives, packed and not, and the Chart.yaml in them',
  inputs: fc.oneof(
    entries.map((list) => packEntries(list)),
    content,
  ),
  seeds: [
    packChart({ name: 'web', version: '1.2.3' }, { 'templates/a.yaml': 'kind: Pod' }),
    'apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: 2\n',
  ],
  dictionary: ['name: ', 'version: ', '&a ', '*a', 'ustar\0', '0000644\0', '\x1f\x8b\x08'],
  async run(input) {
    const outcomes = await Promise.all(
      [input, gzipSync(input)].map(async (bytes) => {
        const limits = { maxUnpackedBytes: 1024 * 1024, maxFiles: 100 }
        const inspected = await attemptAsync(() => inspectArchive(bytes, 'web', limits), isA(HelmError))
        return 'refusal' in inspected ? inspected.refusal : 'chart'
      }),
    )
    const metadata = attempt(() => parseMetadata(textOf(input), 'web'), isA(HelmError))
    return [...outcomes, 'refusal' in metadata ? metadata.refusal : 'metadata'].join(' | ')
  },
}
