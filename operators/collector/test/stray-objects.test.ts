/** A deleted Collector leaves nothing behind, regardless of the state of its release. */
import { createWorld } from '@reeve/simulation'
import { afterEach, expect, it } from 'vitest'
import { exploreCollectors, shortLife } from '../exploration/collector.ts'
import { configured } from '../exploration/declared-collectors.ts'
import type { HelmWorld } from '../exploration/helm-world.ts'
import { Collectors } from '../src/api/collector.ts'

const key = { namespace: 'default', name: 'acme-logs' }

let world: Awaited<ReturnType<typeof createWorld>> | undefined
afterEach(() => world?.close())

it('objects that a failed upgrade did not delete are removed', async () => {
  const { operator } = exploreCollectors()
  const simulated = await createWorld({ seed: 1, operator })
  world = simulated
  const { client } = simulated.user
  // Created by the operator, according to its description above.
  const helm = simulated.outsideWorld as HelmWorld
  const configure = async (values: Readonly<Record<string, unknown>>) => {
    const spec = { collector: { configuration: configured(values) }, rollback: { onFailure: false } }
    await client.patch(Collectors, key, { type: 'merge', patch: { spec } })
    await simulated.clock.advance(30_000)
  }
  await simulated.install(operator)
  simulated.start(operator)
  await simulated.clock.advance(1_000)
  await shortLife.steps[0]?.act({ ...simulated.user, world: helm })
  await simulated.clock.advance(30_000)
  await configure({ replicas: 1, extra: true })
  expect(helm.state()).toHaveProperty(['ConfigMap acme/log-collector-eu1'])

  await configure({ replicas: 1, broken: true })
  expect(helm.state()).toMatchObject({ 'release acme/log-collector-eu1': { status: 'failed' } })
  expect(helm.state()).toHaveProperty(['ConfigMap acme/log-collector-eu1'])

  await client.delete(Collectors, key)
  await simulated.clock.advance(60_000)
  expect(helm.state()).toEqual({})
})
