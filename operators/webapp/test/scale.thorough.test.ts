/** A thousand WebApps: three writes each, and none in steady state. */
import { runInMemory } from '@reeve/testing'
import { expect, it } from 'vitest'
import { WebApps, webAppOperator } from '../src/index.ts'
import { written } from '../src/testing/webapp.ts'

const COUNT = 1_000
/** Reconciles at the same time. */
const CONCURRENCY = 10

it('1,000 WebApps converge with three writes each, and unchanged they cost nothing', {
  timeout: 600_000,
}, async () => {
  const objects = Array.from({ length: COUNT }, (_, index) => written(`shop-${index}`, { replicas: 0 }))
  await using world = await runInMemory(webAppOperator, { objects })
  const { requests } = world.cluster
  const count = (verb: string, resource: string) => requests.count({ verb, resource })
  await world.pass('20s')
  const phases = (await world.list(WebApps)).map(({ status }) => status?.phase)
  expect(new Set(phases)).toEqual(new Set(['Ready']))
  expect(count('create', 'deployments.apps')).toBe(COUNT)
  expect(count('create', 'services')).toBe(COUNT)
  // The caches prove that WebApps exist; the first ones may be read, until a watch shows a change that is new enough.
  expect(count('get', 'webapps.example.com')).toBeLessThanOrEqual(CONCURRENCY)

  await world.pass('1m')
  const { reads } = requests
  expect(await world.writesDuring('2m')).toBe(0)
  expect(requests.reads - reads).toBe(0)
})
