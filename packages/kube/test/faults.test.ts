/** The client with injected server faults, in process and on a simulated clock. */
import { startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import {
  ConfigMaps,
  createClient,
  isConflict,
  isConnectionError,
  isExpired,
  isNotFound,
  isTooManyRequests,
} from '@reeve/kube'
import { describe, expect, it } from 'vitest'

const key = { namespace: 'default', name: 'settings' }
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { a: '1' } }

async function setUp() {
  const clock = new SimulatedClock()
  const cluster = await startEmbeddedCluster({ listen: false, authorization: 'AlwaysAllow', controllers: false })
  const transport = { ...cluster.transport, close: () => cluster.stop() }
  const client = createClient({ transport, clock, random: () => 0 })
  return { clock, cluster, client, [Symbol.asyncDispose]: () => client.close() }
}

/** Advances simulated time until the work is done. */
async function inTime<R>(clock: SimulatedClock, work: Promise<R>): Promise<R> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => undefined)
  while (!isDone) await clock.advance(1_000)
  return done
}

describe('a server that fails or resets connections', () => {
  it('gets retries of reads, and applies succeed in the end', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    cluster.faults.inject({ verb: 'patch' }, { kind: 'reset', when: 'before' }, { times: 2 })
    await inTime(clock, client.apply(ConfigMaps, object))
    cluster.faults.inject({ verb: 'get' }, { kind: 'status', code: 503 }, { times: 3 })
    expect((await inTime(clock, client.get(ConfigMaps, key))).data).toEqual({ a: '1' })
  })

  it('gets no retry of a create that it may have processed', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    cluster.faults.inject({ verb: 'create' }, { kind: 'reset', when: 'after' })
    const error = await inTime(clock, client.create(ConfigMaps, object)).catch((reason: unknown) => reason)
    expect(isConnectionError(error)).toBe(true)
    expect((await client.get(ConfigMaps, key)).data).toEqual({ a: '1' })
  })

  it('gets a retry of a create that it rejected for overload', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    cluster.faults.inject({ verb: 'create' }, { kind: 'status', code: 429, retryAfterSeconds: 2 }, { times: 2 })
    const before = clock.now()
    await inTime(clock, client.create(ConfigMaps, object))
    expect(clock.now() - before).toBeGreaterThanOrEqual(4_000)
  })

  it('that stays overloaded makes the client give up with its error', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    cluster.faults.inject(
      { verb: 'get' },
      { kind: 'status', code: 429, retryAfterSeconds: 1 },
      { times: Number.POSITIVE_INFINITY },
    )
    const error = await inTime(clock, client.get(ConfigMaps, key)).catch((reason: unknown) => reason)
    expect(isTooManyRequests(error)).toBe(true)
  })

  it('that lost the response to an update causes a conflict, never a second write', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    const created = await client.create(ConfigMaps, object)
    cluster.faults.inject({ verb: 'update' }, { kind: 'reset', when: 'after' })
    const updating = client.update(ConfigMaps, { ...created, data: { a: '2' } })
    expect(isConflict(await inTime(clock, updating).catch((reason: unknown) => reason))).toBe(true)
    expect((await client.get(ConfigMaps, key)).data).toEqual({ a: '2' })
  })

  it('that lost the response to a deletion responds that the object does not exist', async () => {
    await using world = await setUp()
    const { client, cluster, clock } = world
    await client.create(ConfigMaps, object)
    cluster.faults.inject({ verb: 'delete' }, { kind: 'reset', when: 'after' })
    const deleting = inTime(clock, client.delete(ConfigMaps, key)).catch((reason: unknown) => reason)
    expect(isNotFound(await deleting)).toBe(true)
  })
})

describe('a server that compacts its history', () => {
  it('still returns a complete list', async () => {
    await using world = await setUp()
    const { client, cluster } = world
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await client.create(ConfigMaps, { ...object, metadata: { ...key, name } })
    let pages = 0
    const forgetful = createClient({
      transport: {
        ...cluster.transport,
        send: async (request) => {
          if (++pages === 2) cluster.compact()
          return cluster.transport.send(request)
        },
      },
    })
    const list = await forgetful.listAll(ConfigMaps, {
      namespace: 'default',
      limit: 2,
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
    })
    expect(list.items.map((item) => item.metadata.name)).toEqual(names)
  })

  it('ends an older watch with 410', async () => {
    await using world = await setUp()
    const { client, cluster } = world
    const { metadata } = await client.list(ConfigMaps, { namespace: 'default' })
    await client.create(ConfigMaps, object)
    cluster.compact()
    const watching = async () => {
      for await (const _event of client.watch(ConfigMaps, { namespace: 'default', ...metadata }));
    }
    expect(isExpired(await watching().catch((reason: unknown) => reason))).toBe(true)
  })

  it.each([
    ['close', undefined],
    ['reset', 'KUBE_CONNECTION'],
    ['expired', 'KUBE_API'],
  ] as const)('or breaks a watch (%s) is distinguished', async (how, code) => {
    await using world = await setUp()
    const { client, cluster } = world
    await client.create(ConfigMaps, object)
    cluster.faults.inject({ verb: 'watch' }, { kind: 'watch-end', afterEvents: 1, how })
    let events = 0
    const watching = async () => {
      for await (const _event of client.watch(ConfigMaps, { namespace: 'default' })) events++
    }
    const error = await watching()
      .then(() => undefined)
      .catch((reason: unknown) => reason)
    expect(error).toEqual(code === undefined ? undefined : expect.objectContaining({ code }))
    expect(events).toBe(1)
  })
})
