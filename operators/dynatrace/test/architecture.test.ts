/** What docs/architecture.md says about the code. */
import { globSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { fileURLToPath } from 'node:url'
import { DaemonSets } from '@reeve/kube'
import { expect, it } from 'vitest'
import { COMPONENTS } from '../src/controllers/dynakube/components.ts'
import { startTenantSimulator } from '../src/tenant/simulator/index.ts'
import { NAMESPACE, setStage } from './dynakube/support/stage.ts'

const page = new URL('../../../docs/architecture.md', import.meta.url)

/** The rows of the table that follows one change, or one event. */
async function followedFiles(what: 'change' | 'event' = 'change') {
  const [, section = ''] = (await readFile(page, 'utf8')).split(`## Following one ${what}`)
  const [table = ''] = section.split('\n## ')
  return [...table.matchAll(/^\| \[`[^`]+`\]\(([^)]+)\) \| (.*) \|$/gm)].map(([, file = '', about = '']) => ({
    path: fileURLToPath(new URL(file, page)),
    // Such a file is evaluated once; no function of it runs with a change.
    isForTheStart: about.startsWith('at the start'),
  }))
}

it('a change of a DynaKube can be followed in at most 20 files, all of which exist', async () => {
  const files = await followedFiles()
  expect(files.length).toBeGreaterThan(10)
  expect(files.length).toBeLessThanOrEqual(20)
  for (const { path } of files) await access(path)
})

it('the files in which a change is followed take part in it', { timeout: 120_000 }, async () => {
  const dk = 'abc12345'
  await using stage = await setStage([dk], { server: await startTenantSimulator({ tenants: [{ id: dk }] }) })
  const image = async () => {
    const { spec } = await stage.client.get(DaemonSets, { namespace: NAMESPACE, name: `${dk}-oneagent` })
    return spec?.template.spec?.containers[0]?.image
  }
  await stage.create(dk, { oneAgent: { hostMonitoring: { version: '1.300.0.20240101-000000' } } })
  await stage.until(async () => (await image().catch(() => undefined)) !== undefined)
  const running = await coverage(async () => {
    await stage.edit(dk, { spec: { oneAgent: { hostMonitoring: { version: '1.301.0.20240201-000000' } } } })
    await stage.until(async () => (await image())?.includes('1.301.0') === true)
    await stage.until(async () => {
      return (await stage.read(dk)).status?.oneAgent?.version?.startsWith('1.301.0') === true
    })
  })
  const fromEvent = await followedFiles('event')
  expect(fromEvent.length).toBeGreaterThan(5)
  const files = [...fromEvent, ...(await followedFiles())].filter(({ isForTheStart }) => !isForTheStart)
  expect(files.filter(({ path }) => !running.has(path)).map(({ path }) => path)).toEqual([])
})

/** Runs `work`, and returns the paths of the files of which functions ran meanwhile. */
async function coverage(work: () => Promise<void>): Promise<ReadonlySet<string>> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await work()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const isRun = ({ functions }: (typeof result)[number]) =>
      functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
    return new Set(result.filter(isRun).map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url)))
  } finally {
    session.disconnect()
  }
}

it('every controller of the operators belongs to a definition', async () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const sources = globSync('*/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
  expect(sources.length).toBeGreaterThan(200)
  const own = /\bnew Controller\(|\boperatorFrame\b/
  const found: string[] = []
  for (const file of sources) if (own.test(await readFile(`${root}/${file}`, 'utf8'))) found.push(file)
  expect(found).toEqual([])
})

it('every component of a DynaKube names what it may own, so that a failure keeps only that', () => {
  expect(COMPONENTS.filter(({ mayOwn }) => mayOwn === undefined).map(({ name }) => name)).toEqual([])
})
