/** A thousand WebApps: three writes each, and none in steady state. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebApps } from '../src/index.ts'
import { type Stage, setStage, written } from './support/stage.ts'

const COUNT = 1_000
/** Reconciles at the same time. */
const CONCURRENCY = 10

let stage: Stage
beforeEach(async () => {
  stage = await setStage()
})
afterEach(() => stage.close())

it('1,000 WebApps converge with three writes each, and unchanged they cost nothing', {
  timeout: 600_000,
}, async () => {
  for (let index = 0; index < COUNT; index++) {
    await stage.client.create(WebApps, written(`shop-${index}`, { replicas: 0 }))
  }
  stage.cluster.requests.reset()
  stage.startOperator()
  const count = (verb: string, resource: string) => stage.cluster.requests.count({ verb, resource })
  await stage.clock.advance(20_000)
  const phases = (await stage.client.listAll(WebApps)).items.map(({ status }) => status?.phase)
  expect(new Set(phases)).toEqual(new Set(['Ready']))
  expect(count('create', 'deployments.apps')).toBe(COUNT)
  expect(count('create', 'services')).toBe(COUNT)
  // The caches prove that WebApps exist; the first ones may be read, until a watch shows a change that is new enough.
  expect(count('get', 'webapps.example.com')).toBeLessThanOrEqual(CONCURRENCY)

  await stage.clock.advance(60_000)
  const { writes, reads } = stage.cluster.requests
  await stage.clock.advance(2 * 60_000)
  expect(stage.cluster.requests.writes - writes).toBe(0)
  expect(stage.cluster.requests.reads - reads).toBe(0)
})
