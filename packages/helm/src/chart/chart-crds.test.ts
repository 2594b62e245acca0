import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ChartInvalidError, ChartNotFoundError } from '../errors.ts'
import { packChart, packEntries } from '../testing/pack-chart.ts'
import { chartCrds } from './chart-crds.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-crds-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const inner = packChart({ name: 'inner', version: '1.0.0' }, { 'crds/inner.json': '{}' })
const packed = packChart({ name: 'db', version: '1.0.0' }, { 'crds/db.yaml': 'db', 'charts/inner-1.0.0.tgz': inner })
const FILES = {
  'crds/own.yaml': 'own',
  'crds/deeper/own.yml': 'deeper',
  'crds/README.md': 'not applied',
  'templates/crds/no.yaml': 'not applied',
  'charts/sub/crds/sub.yaml': 'sub',
  'charts/db-1.0.0.tgz': packed,
}
const FOUND = [
  'charts/db-1.0.0.tgz/charts/inner-1.0.0.tgz/crds/inner.json',
  'charts/db-1.0.0.tgz/crds/db.yaml',
  'charts/sub/crds/sub.yaml',
  'crds/deeper/own.yml',
  'crds/own.yaml',
]

const paths = async (path: string) => (await chartCrds(path)).map((file) => file.path).sort()

it('CRDs are found in a chart and its subcharts, folders and archives, packed ones included', async () => {
  const archive = join(folder, 'web.tgz')
  await writeFile(archive, packChart({ name: 'web', version: '1.0.0' }, FILES))
  expect(await paths(archive)).toEqual(FOUND)
  expect(await chartCrds(archive)).toContainEqual({ path: 'crds/own.yaml', text: 'own' })

  const unpacked = join(folder, 'web')
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(unpacked, path)), { recursive: true })
    await writeFile(join(unpacked, path), content)
  }
  expect(await paths(unpacked)).toEqual(FOUND)
})

it('CRDs are found under every path that Helm reads as a crds folder, and as often as the archive has them', async () => {
  const nested = packEntries([{ path: 'sub/charts/x/../../crds/up.yaml', content: 'up' }])
  const archive = packEntries([
    { path: 'web/Chart.yaml', content: 'apiVersion: v2\nname: web\nversion: 1.0.0\n' },
    { path: 'web/./crds/dot.yaml', content: 'dot' },
    { path: 'web\\crds\\backslash.yaml', content: 'backslash' },
    { path: 'web/crds/twice.yaml', content: 'first' },
    { path: 'web/crds/twice.yaml', content: 'second' },
    { path: 'web/charts/sub.tgz', content: nested },
  ])
  await writeFile(join(folder, 'odd.tgz'), archive)
  const texts = (await chartCrds(join(folder, 'odd.tgz'))).map(({ text }) => text)
  expect(texts).toEqual(['dot', 'backslash', 'first', 'second', 'up'])
})

it('CRDs are searched for within limits', async () => {
  let archive = packChart({ name: 'core', version: '1.0.0' })
  for (let depth = 0; depth < 10; depth++) {
    archive = packChart({ name: 'web', version: '1.0.0' }, { 'charts/core.tgz': archive })
  }
  await writeFile(join(folder, 'deep.tgz'), archive)
  await expect(chartCrds(join(folder, 'deep.tgz'))).rejects.toThrow(ChartInvalidError)
  await writeFile(join(folder, 'text.tgz'), 'no archive')
  await expect(chartCrds(join(folder, 'text.tgz'))).rejects.toThrow(ChartInvalidError)
  await expect(chartCrds(join(folder, 'nowhere'))).rejects.toThrow(ChartNotFoundError)
})

const chart = (files: Record<string, string | Uint8Array>) => packChart({ name: 'a', version: '1.0.0' }, files)

async function attempt(archive: Uint8Array, signal?: AbortSignal): Promise<unknown> {
  await writeFile(join(folder, 'a.tgz'), archive)
  return chartCrds(join(folder, 'a.tgz'), { signal }).catch((error: unknown) => error)
}

it('CRDs are searched for in subcharts that Helm loads, and in no others', async () => {
  const sub = chart({ 'crds/x.yaml': 'x' })
  const names = [
    'charts/_a.tgz',
    'charts/.a.tgz',
    'charts/a.TGZ',
    'charts/_b/crds/x.yaml',
    'Crds/x.yaml',
    'charts/b.tgz',
  ]
  await writeFile(join(folder, 'a.tgz'), chart(Object.fromEntries(names.map((name) => [name, sub]))))
  expect(await paths(join(folder, 'a.tgz'))).toEqual(['charts/b.tgz/crds/x.yaml'])
})

it('CRDs have one budget in all archives of a chart', async () => {
  // 80 KB each, for a file that nobody needs.
  const large = chart({ 'files/zero': Buffer.alloc(80 * 1024 * 1024) })
  expect(await attempt(chart({ 'charts/b.tgz': large, 'charts/c.tgz': large }))).toMatchObject({
    code: 'HELM_CHART_INVALID',
    message: expect.stringContaining('unpacks to more than'),
  })
  const many = packEntries(Array.from({ length: 6_000 }, (_, index) => ({ path: `a/${index}` })))
  expect(await attempt(chart({ 'charts/b.tgz': many, 'charts/c.tgz': many }))).toMatchObject({
    message: expect.stringContaining('has more than 10000 files'),
  })
  const crds = chart({ 'crds/x.yaml': Buffer.alloc(5 * 1024 * 1024) })
  expect(await attempt(chart({ 'charts/b.tgz': crds, 'charts/c.tgz': crds }))).toMatchObject({
    message: expect.stringContaining('bytes in crds folders'),
  })
})

it('CRDs are not searched for in what is packed twice, which unpacks to anything', async () => {
  const bomb = gzipSync(gzipSync(Buffer.alloc(200 * 1024 * 1024)))
  for (const archive of [bomb, chart({ 'charts/b.tgz': bomb })]) {
    expect(await attempt(archive)).toMatchObject({ message: expect.stringContaining('packed twice') })
  }
})

it('CRDs are no longer searched for when the caller has stopped', async () => {
  const stopped = new AbortController()
  stopped.abort(new Error('enough'))
  expect(await attempt(chart({ 'crds/x.yaml': 'x' }), stopped.signal)).toMatchObject({ message: 'enough' })
})
