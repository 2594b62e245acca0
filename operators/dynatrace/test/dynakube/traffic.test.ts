/** What a DynaKube costs while nothing happens: requests to the cluster and to the tenant, counted over hours. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReceivedCall } from '../../src/tenant/simulator/index.ts'
import { type ClosedStage, setClosedStage } from './support/closed-stage.ts'
import { USER_SECRETS } from './support/features.ts'
import { FULL } from './support/full-dynakube.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

let stage: ClosedStage
beforeAll(async () => {
  stage = await setClosedStage({ hasPods: true })
  for (const [name, data] of Object.entries(USER_SECRETS)) await stage.addSecret(name, data)
  await stage.create(FULL)
  await stage.untilPhase('Running')
  await stage.advance(5 * MINUTE)
})
afterAll(() => stage?.[Symbol.asyncDispose]())

/** What happens while `act` runs and until the stage has settled. */
async function during(act: () => Promise<unknown>) {
  const { world, simulator } = stage
  const [requests, writes] = [world.log.requests.length, world.log.managedWrites.length]
  simulator.clearCalls()
  await act()
  return {
    calls: simulator.calls(),
    reads: world.log.requests.slice(requests).filter(({ verb }) => verb === 'get' || verb === 'list'),
    writes: world.log.managedWrites.slice(writes),
  }
}

/** One of a kind: with the same parameters and the same token. */
const endpointOf = ({ operation, path, token }: ReceivedCall) => `${operation} ${path} ${token}`

/** The shortest time between two calls of the same kind, by kind. */
function shortestPauses(calls: readonly ReceivedCall[]): ReadonlyMap<string, number> {
  const byEndpoint = Map.groupBy(calls, endpointOf)
  const pauses = [...byEndpoint].map(([endpoint, some]) => {
    const times = some.map(({ receivedMs }) => receivedMs)
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
    return [endpoint, Math.min(...gaps)] as const
  })
  return new Map(pauses)
}

const tooOften = (calls: readonly ReceivedCall[], thresholdMs: number) =>
  [...shortestPauses(calls)].filter(([, pauseMs]) => pauseMs < thresholdMs)

describe('while nothing happens', () => {
  it('a reconcile costs no request', async () => {
    const { calls, reads, writes } = await during(async () => {
      await stage.touch()
      await stage.settle()
    })
    expect(calls).toEqual([])
    expect(reads).toEqual([])
    expect(writes).toEqual([])
  })

  it('three hours cost a status write per reconcile with calls, and each call once per threshold', async () => {
    const { calls, reads, writes } = await during(() => stage.advance(3 * HOUR))
    expect(tooOften(calls, 15 * MINUTE)).toEqual([])
    expect(reads).toEqual([])
    const reconciles = new Set(calls.map(({ receivedMs }) => receivedMs))
    expect(reconciles.size).toBeGreaterThan(3)
    expect(reconciles.size).toBeLessThanOrEqual(12)
    // The times of the responses are kept in the status, so that the next operator knows them.
    expect(writes.map(({ resource, subresource }) => `${resource} ${subresource}`)).toEqual(
      Array.from(reconciles, () => 'dynakubes.dynatrace.com status'),
    )
  })

  it('every call is known by name, and nothing is created in the tenant', async () => {
    const { calls } = await during(() => stage.advance(HOUR))
    expect([...new Set(calls.map(({ operation }) => operation))].sort()).toEqual([
      'agent-connection-info',
      'agent-latest-version',
      'gateway-connection-info',
      'gateway-latest-version',
      'process-module-config',
      'settings-effective-values',
      'settings-list',
      'token-lookup',
    ])
  })

  it('restarted operators send no more requests than one', async () => {
    const { calls, writes } = await during(async () => {
      for (let restart = 0; restart < 12; restart++) {
        await stage.advance(5 * MINUTE)
        stage.kill()
        stage.start()
      }
    })
    expect(tooOften(calls, 15 * MINUTE)).toEqual([])
    // What a new operator applies to learn how the server rewrites it has no effect.
    const written = writes.filter(({ verb }) => verb !== 'patch')
    expect(new Set(written.map(({ resource }) => resource))).toEqual(new Set(['dynakubes.dynatrace.com']))
  })

  it('the threshold of the user counts', async () => {
    await stage.replace({ ...FULL, dynatraceApiRequestThreshold: 60 })
    await stage.settle()
    const { calls } = await during(() => stage.advance(5 * HOUR))
    expect(calls.length).toBeGreaterThan(0)
    expect(tooOften(calls, HOUR)).toEqual([])
  })
})

describe('while pods change', () => {
  it('no request is sent, and only the phase and the agents are written', async () => {
    await stage.touch()
    await stage.advance(31 * MINUTE)
    const { calls, reads, writes } = await during(async () => {
      for (const pod of stage.world.cluster.api.list('pods')) {
        const { namespace = '', name } = pod.metadata as { namespace?: string; name: string }
        if (namespace === 'dynatrace') stage.world.cluster.api.delete('pods', namespace, name)
      }
      await stage.advance(4 * MINUTE)
    })
    expect(calls).toEqual([])
    expect(reads).toEqual([])
    expect(new Set(writes.map(({ resource }) => resource))).toEqual(new Set(['dynakubes.dynatrace.com']))
  })
})
