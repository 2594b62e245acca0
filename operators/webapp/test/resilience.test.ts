import { Deployments, Leases, Services } from '@reeve/kube'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebApps } from '../src/index.ts'
import { keyOf, type Stage, setStage, written } from './support/stage.ts'

let stage: Stage
beforeEach(async () => {
  stage = await setStage()
})
afterEach(() => stage.close())

const lease = { namespace: 'default', name: 'webapp-operator' }
const candidate = (identity: string) => ({ leaderElection: { lease, identity } })
const replicasOf = async (name: string) => (await stage.client.get(Deployments, keyOf(name))).spec?.replicas
const setReplicas = (name: string, replicas: number) =>
  stage.client.patch(WebApps, keyOf(name), { type: 'merge', patch: { spec: { replicas } } })
const holder = async () => (await stage.client.get(Leases, lease)).spec?.holderIdentity

describe('with several replicas of the operator', () => {
  it('a standby takes over when the leader is lost, and the old leader writes nothing more', async () => {
    const first = stage.startOperator(candidate('first'))
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    stage.startOperator(candidate('second'))
    await stage.clock.advance(10_000)
    expect(await holder()).toBe('first')

    first.kill()
    const lateWrites: string[] = []
    stage.cluster.requests.onRequest(({ verb, path, userAgent }) => {
      if (userAgent === 'first' && !['get', 'list', 'watch'].includes(verb)) lateWrites.push(`${verb} ${path}`)
    })
    await stage.until(async () => (await holder()) === 'second')
    await setReplicas('shop', 4)
    await stage.until(async () => (await replicasOf('shop')) === 4)
    await stage.untilPhase('shop', 'Ready')
    // The connection of the old leader is restored: its lease is lost, so it must exit without a write.
    expect(await first.revive()).toBe('LEADERSHIP_LOST')
    expect(lateWrites).toEqual([])
  })

  it('a stopped leader gives the lease back, so that the next one need not wait for it to run out', async () => {
    const first = stage.startOperator(candidate('first'))
    await stage.until(async () => (await holder().catch(() => undefined)) === 'first')
    stage.startOperator(candidate('second'))
    await first.stop()
    const releasedAt = stage.clock.now()
    await stage.until(async () => (await holder()) === 'second')
    expect(stage.clock.now() - releasedAt).toBeLessThan(5_000)
  })
})

describe('a WebApp becomes Ready although', () => {
  const becomesReady = async (replicas: number) => {
    await stage.until(async () => (await replicasOf('shop').catch(() => undefined)) === replicas)
    expect((await stage.untilPhase('shop', 'Ready')).status?.availableReplicas).toBe(replicas)
  }

  it('every watch is cut again and again', async () => {
    stage.startOperator()
    await stage.client.create(WebApps, written('shop'))
    for (let replicas = 3; replicas <= 6; replicas++) {
      stage.cluster.faults.dropWatches(undefined, replicas % 2 === 0 ? 'reset' : 'close')
      await setReplicas('shop', replicas)
      stage.cluster.faults.dropWatches()
      await becomesReady(replicas)
    }
  })

  it('the history is compacted while watches are down', async () => {
    stage.startOperator()
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    stage.cluster.faults.inject({ verb: 'watch' }, { kind: 'status', code: 503 }, { times: 6 })
    stage.cluster.faults.dropWatches()
    await setReplicas('shop', 4)
    await stage.client.delete(Services, keyOf('shop'))
    stage.cluster.compact()
    await becomesReady(4)
    await stage.until(async () =>
      (await stage.client.listAll(Services)).items.some(({ metadata }) => metadata.name === 'shop'),
    )
  })

  it('its watches die silently', async () => {
    stage.startOperator()
    await stage.client.create(WebApps, written('shop'))
    await stage.untilPhase('shop', 'Ready')
    stage.cluster.faults.silenceWatches()
    await setReplicas('shop', 3)
    const before = stage.clock.now()
    await becomesReady(3)
    expect(stage.clock.now() - before).toBeLessThan(120_000)
  })

  it('writes fail with conflicts, time-outs, throttling and broken connections', async () => {
    stage.startOperator()
    const { faults } = stage.cluster
    const writes = {
      where: ({ userAgent, verb }: { userAgent: string; verb: string }) =>
        userAgent !== '' && ['create', 'patch', 'update'].includes(verb),
    }
    await stage.client.create(WebApps, written('shop'))
    faults.inject(
      { ...writes, resource: 'deployments.apps' },
      { kind: 'status', code: 409, reason: 'Conflict' },
      { times: 5 },
    )
    faults.inject(
      { ...writes, resource: 'services' },
      { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2 },
      { times: 3 },
    )
    faults.inject(
      { ...writes, resource: 'webapps.example.com', subresource: 'status' },
      { kind: 'reset', when: 'after' },
      { times: 3 },
    )
    faults.inject(
      { ...writes, resource: 'webapps.example.com', subresource: 'status' },
      { kind: 'status', code: 500 },
      { after: 4, times: 2 },
    )
    await becomesReady(2)
  })

  it('the operator is stopped and started at every step', async () => {
    await stage.client.create(WebApps, written('shop'))
    for (let step = 0; step < 6; step++) {
      const operator = stage.startOperator()
      await stage.clock.advance(100 * step)
      await operator.stop()
    }
    stage.startOperator()
    await becomesReady(2)
  })
})
