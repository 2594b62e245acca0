import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChartInvalidError } from '../errors.ts'
import { packChart, packEntries } from '../testing/pack-chart.ts'
import { inspectArchive, parseMetadata } from './inspect-chart.ts'

const chartYaml = { path: 'web/Chart.yaml', content: 'name: web\nversion: 1.0.0\n' }

describe('inspectArchive', () => {
  it('reads name and versions, those of the chart and not of its subcharts', async () => {
    const archive = packEntries([
      { path: 'web/charts/sub/Chart.yaml', content: 'name: sub\nversion: 9.9.9\n' },
      { path: 'web', type: 'Directory' },
      { ...chartYaml, content: `${chartYaml.content}appVersion: 1.10\n` },
    ])
    expect(await inspectArchive(archive, 'it')).toEqual({ name: 'web', version: '1.0.0', appVersion: '1.1' })
  })

  it.each([
    ['a path that climbs out', { path: 'web/../../etc/passwd' }, 'leads out of it'],
    ['an absolute path', { path: '/etc/passwd' }, 'leads out of it'],
    ['a path with backslashes', { path: 'web\\..\\..\\x' }, 'leads out of it'],
    ['a symbolic link', { path: 'web/a', type: 'SymbolicLink', linkpath: '/etc/passwd' }, 'SymbolicLink'],
    ['a hard link', { path: 'web/a', type: 'Link', linkpath: 'web/Chart.yaml' }, 'Link'],
    ['a device', { path: 'web/a', type: 'CharacterDevice' }, 'CharacterDevice'],
  ] as const)('rejects %s', async (_what, entry, problem) => {
    const attempt = inspectArchive(packEntries([chartYaml, entry]), 'it')
    await expect(attempt).rejects.toThrow(ChartInvalidError)
    await expect(inspectArchive(packEntries([chartYaml, entry]), 'it')).rejects.toThrow(problem)
  })

  it('rejects an archive that unpacks to more than the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
    await expect(inspectArchive(bomb, 'it', { maxUnpackedBytes: 1024 * 1024 })).rejects.toThrow('unpacks to more than')
  })

  it('does not unpack what is packed twice', async () => {
    await expect(inspectArchive(gzipSync(packChart({ name: 'web', version: '1.0.0' })), 'it')).rejects.toThrow(
      'packed twice',
    )
  })

  it('rejects an archive with too many files', async () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ path: `web/${index}` }))
    await expect(inspectArchive(packEntries([chartYaml, ...many]), 'it', { maxFiles: 10 })).rejects.toThrow(
      'more than 10 files',
    )
  })

  it.each([
    ['no gzip', Buffer.from('hello')],
    ['gzip of something else', gzipSync('hello')],
    ['an archive that breaks off', gzipSync(Buffer.alloc(700, 'x'))],
    ['nothing', Buffer.alloc(0)],
    ['no Chart.yaml', packEntries([{ path: 'web/values.yaml' }])],
    ['Chart.yaml outside a folder', packEntries([{ path: 'Chart.yaml', content: 'name: web\nversion: 1.0.0\n' }])],
  ])('rejects %s', async (_what, bytes) => {
    await expect(inspectArchive(bytes, 'it')).rejects.toThrow(ChartInvalidError)
  })

  it('returns metadata or fails with a ChartInvalidError for arbitrary bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.boolean(), async (bytes, isPacked) => {
        const error = await inspectArchive(isPacked ? gzipSync(bytes) : bytes, 'it').catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(ChartInvalidError)
      }),
    )
  })

  it('rejects a truncated archive', async () => {
    const archive = packChart({ name: 'web', version: '1.0.0' })
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: archive.length - 1 }), async (length) => {
        await expect(inspectArchive(archive.subarray(0, length), 'it')).rejects.toThrow(ChartInvalidError)
      }),
      { numRuns: 50 },
    )
  })
})

describe('parseMetadata', () => {
  it.each([
    'version: 1.0.0',
    'name: web',
    'name: web\nversion: one',
    'name: ../web\nversion: 1.0.0',
    'name: ..\nversion: 1.0.0',
    'name: [web]\nversion: 1.0.0',
    '- name',
    'a: [',
    '',
  ])('rejects %j', (text) => {
    expect(() => parseMetadata(text, 'it')).toThrow(ChartInvalidError)
  })
})
