import { Deployments, Leases, Services } from '@reeve/kube'
import { type Replica, runInMemory, type World } from '@reeve/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebApps, webAppOperator } from '../src/index.ts'

const shop = { metadata: { name: 'shop' }, spec: { image: 'nginx:1.29', replicas: 2 } }
let world: World
afterEach(() => world.stop())

const setReplicas = (replicas: number) => world.patch(WebApps, 'shop', { spec: { replicas } })
const isReady = () => world.until(WebApps, 'shop', ({ status }) => status?.phase === 'Ready')

describe('with several replicas of the operator', () => {
  const lease = { namespace: 'default', name: 'webapp-operator' }
  const candidate = (identity: string) => ({ leaderElection: { lease, identity } })
  const isHeldBy = (identity: string) => world.until(Leases, lease, ({ spec }) => spec?.holderIdentity === identity)
  let first: Replica | undefined

  beforeEach(async () => {
    world = await runInMemory(webAppOperator, { options: candidate('first') })
    first = world.replicas[0]
  })

  it('a standby takes over when the leader is lost, and the old leader writes nothing more', async () => {
    await world.apply(WebApps, shop)
    await isReady()
    world.start(candidate('second'))
    await world.pass('10s')
    await isHeldBy('first')

    first?.disconnect()
    const lateWrites: string[] = []
    world.cluster.requests.onRequest(({ verb, path, userAgent }) => {
      if (userAgent === first?.userAgent && !['get', 'list', 'watch'].includes(verb)) lateWrites.push(`${verb} ${path}`)
    })
    await isHeldBy('second')
    await setReplicas(4)
    await world.until(Deployments, 'shop', ({ spec }) => spec?.replicas === 4)
    await isReady()
    // The connection of the old leader is restored: its lease is lost, so it must exit without a write.
    first?.reconnect()
    expect(await first?.ended()).toMatchObject({ code: 'LEADERSHIP_LOST' })
    expect(lateWrites).toEqual([])
  })

  it('a stopped leader gives the lease back, so that the next one need not wait for it to run out', async () => {
    await isHeldBy('first')
    world.start(candidate('second'))
    await first?.stop()
    const releasedAt = world.clock.now()
    await isHeldBy('second')
    expect(world.clock.now() - releasedAt).toBeLessThan(5_000)
  })
})

describe('a WebApp becomes Ready although', () => {
  beforeEach(async () => {
    world = await runInMemory(webAppOperator)
  })

  const becomesReady = async (replicas: number) => {
    await world.until(Deployments, 'shop', ({ spec }) => spec?.replicas === replicas)
    expect((await isReady()).status?.availableReplicas).toBe(replicas)
  }

  it('every watch is cut again and again', async () => {
    await world.apply(WebApps, shop)
    for (let replicas = 3; replicas <= 6; replicas++) {
      world.cluster.faults.dropWatches(undefined, replicas % 2 === 0 ? 'reset' : 'close')
      await setReplicas(replicas)
      world.cluster.faults.dropWatches()
      await becomesReady(replicas)
    }
  })

  it('the history is compacted while watches are down', async () => {
    await world.apply(WebApps, shop)
    await isReady()
    world.cluster.faults.inject({ verb: 'watch' }, { kind: 'status', code: 503 }, { times: 6 })
    world.cluster.faults.dropWatches()
    await setReplicas(4)
    await world.delete(Services, 'shop')
    world.cluster.compact()
    await becomesReady(4)
    await world.until(Services, 'shop', () => true)
  })

  it('its watches die silently', async () => {
    await world.apply(WebApps, shop)
    await isReady()
    world.cluster.faults.silenceWatches()
    await setReplicas(3)
    const before = world.clock.now()
    await becomesReady(3)
    expect(world.clock.now() - before).toBeLessThan(120_000)
  })

  it('writes fail with conflicts, time-outs, throttling and broken connections', async () => {
    const { faults } = world.cluster
    const status = { verb: ['create', 'patch', 'update'], resource: 'webapps.example.com', subresource: 'status' }
    await world.apply(WebApps, shop)
    world.fail({ resource: Deployments, code: 409, times: 5 })
    faults.inject(
      { verb: ['create', 'patch', 'update'], resource: 'services' },
      { kind: 'status', code: 429, reason: 'TooManyRequests', retryAfterSeconds: 2 },
      { times: 3 },
    )
    faults.inject(status, { kind: 'reset', when: 'after' }, { times: 3 })
    faults.inject(status, { kind: 'status', code: 500 }, { after: 4, times: 2 })
    await becomesReady(2)
  })

  it('the operator is stopped and started at every step', async () => {
    for (const replica of world.replicas) await replica.stop()
    await world.apply(WebApps, shop)
    for (let step = 0; step < 6; step++) {
      const replica = world.start()
      await world.pass(100 * step)
      await replica.stop()
    }
    world.start()
    await becomesReady(2)
  })
})
