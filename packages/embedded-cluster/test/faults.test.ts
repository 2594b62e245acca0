import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConnectionReset } from '../src/index.ts'
import { CONFIG_MAPS, configMap, InProcess, type WatchStream } from './support/in-process.ts'
import { ManualClock } from './support/manual-clock.ts'

let clock: ManualClock
let cluster: InProcess
let faults: InProcess['cluster']['faults']
const streams: WatchStream[] = []

beforeEach(async () => {
  clock = new ManualClock()
  cluster = await InProcess.start({ clock })
  faults = cluster.cluster.faults
})

afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  await cluster.stop()
})

const create = (name: string) => cluster.send('POST', CONFIG_MAPS, configMap(name))
const exists = async (name: string) => (await cluster.send('GET', `${CONFIG_MAPS}/${name}`)).status === 200

async function watch(query = ''): Promise<WatchStream> {
  const stream = await cluster.watch(`${CONFIG_MAPS}?watch=true&${query}`)
  streams.push(stream)
  return stream
}

describe('a rule', () => {
  test('rejects the matching request, once, and the request has no effect', async () => {
    faults.inject({ verb: 'create', resource: 'configmaps' }, { kind: 'status', code: 503, retryAfterSeconds: 7 })
    const rejected = await create('a')
    expect(rejected).toMatchObject({ status: 503, body: { reason: 'ServiceUnavailable' } })
    expect(rejected.headers['retry-after']).toBe('7')
    expect(await exists('a')).toBe(false)
    expect((await create('a')).status).toBe(201)
  })

  test('starts and ends after the configured number of requests', async () => {
    faults.inject({ verb: 'create' }, { kind: 'status', code: 409 }, { after: 1, times: 2 })
    const statuses = []
    for (const name of ['a', 'b', 'c', 'd']) statuses.push((await create(name)).status)
    expect(statuses).toEqual([201, 409, 409, 201])
  })

  test('matches requests by name, namespace, subresource or any property', async () => {
    faults.inject({ verb: 'get', name: 'b' }, { kind: 'status', code: 500 }, { times: Number.POSITIVE_INFINITY })
    faults.inject({ where: ({ userAgent }) => userAgent === 'odd' }, { kind: 'status', code: 429 })
    await create('a')
    await create('b')
    expect(await exists('a')).toBe(true)
    expect((await cluster.send('GET', `${CONFIG_MAPS}/b`)).status).toBe(500)
    const odd = await cluster.send('GET', '/version', undefined, { headers: { 'user-agent': 'odd' } })
    expect(odd.status).toBe(429)
  })

  test('can be removed', async () => {
    const removeRule = faults.inject({ verb: 'create' }, { kind: 'status', code: 500 })
    removeRule()
    expect((await create('a')).status).toBe(201)
  })

  test('breaks the connection before the write, or after it', async () => {
    faults.inject({ verb: 'create' }, { kind: 'reset', when: 'before' })
    await expect(create('a')).rejects.toThrow(ConnectionReset)
    expect(await exists('a')).toBe(false)
    faults.inject({ verb: 'create' }, { kind: 'reset', when: 'after' })
    await expect(create('b')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(await exists('b')).toBe(true)
  })

  test('delays on the clock of the cluster', async () => {
    faults.inject({ verb: 'create' }, { kind: 'latency', delayMs: 5000 })
    const pending = create('a')
    let isDone = false
    const watched = pending.then(() => {
      isDone = true
    })
    clock.advance(4999)
    await Promise.resolve()
    expect(isDone).toBe(false)
    clock.advance(1)
    await watched
    expect(await exists('a')).toBe(true)
  })
})

describe('a watch', () => {
  test('ends after the configured number of events: cleanly, broken, or with a 410', async () => {
    await create('a')
    await create('b')
    faults.inject({ verb: 'watch' }, { kind: 'watch-end', afterEvents: 1, how: 'close' })
    const closed = await watch()
    expect(await closed.take(5)).toEqual(['ADDED a'])
    faults.inject({ verb: 'watch' }, { kind: 'watch-end', afterEvents: 1, how: 'reset' })
    const broken = await watch()
    expect(await broken.take(1)).toEqual(['ADDED a'])
    await expect(broken.next()).rejects.toThrow(ConnectionReset)
    faults.inject({ verb: 'watch' }, { kind: 'watch-end', afterEvents: 0, how: 'expired' })
    const expired = await watch()
    expect(await expired.next()).toMatchObject({ type: 'ERROR', object: { code: 410 } })
  })

  test('gets a 410 before it starts when a rule matches its request', async () => {
    faults.inject({ verb: 'watch' }, { kind: 'status', code: 410 })
    expect((await watch()).status).toBe(410)
  })

  test('loses events silently', async () => {
    faults.inject({ verb: 'watch' }, { kind: 'watch-gap', afterEvents: 1, count: 2 })
    const stream = await watch()
    for (const name of ['a', 'b', 'c', 'd']) await create(name)
    expect(await stream.take(2)).toEqual(['ADDED a', 'ADDED d'])
  })

  test('that is open can be closed, broken or silenced', async () => {
    const first = await watch()
    const second = await watch()
    expect(faults.dropWatches('configmaps')).toBe(2)
    expect(await first.next()).toBeUndefined()
    expect(await second.next()).toBeUndefined()
    const third = await watch()
    faults.dropWatches('configmaps', 'reset')
    await expect(third.next()).rejects.toThrow(ConnectionReset)
    const silent = await watch(`allowWatchBookmarks=true`)
    expect(await silent.next()).toMatchObject({ type: 'BOOKMARK' })
    faults.silenceWatches()
    await create('a')
    clock.advance(120_000)
    let isReceived = false
    const next = silent.next().then((event) => {
      isReceived = event !== undefined
    })
    await Promise.resolve()
    expect(isReceived).toBe(false)
    silent.close()
    await next
    expect(isReceived).toBe(false)
  })

  test('skips the next events of a resource in all watches', async () => {
    const stream = await watch()
    faults.skipEvents('configmaps', 2)
    for (const name of ['a', 'b', 'c']) await create(name)
    expect(await stream.take(1)).toEqual(['ADDED c'])
  })
})

describe('a frozen resource', () => {
  test('returns an old state to watches and cached lists, and the current one to consistent reads', async () => {
    await create('a')
    const open = await watch('resourceVersion=1')
    expect(await open.take(1)).toEqual(['ADDED a'])
    faults.freeze('configmaps')
    await create('b')
    const cached = await cluster.send('GET', `${CONFIG_MAPS}?resourceVersion=0`)
    expect(cached.body.items).toHaveLength(1)
    const consistent = await cluster.send('GET', CONFIG_MAPS)
    expect(consistent.body.items).toHaveLength(2)
    const restarted = await watch('resourceVersion=0')
    expect(await restarted.take(1)).toEqual(['ADDED a'])
    faults.thaw('configmaps')
    expect(await open.take(1)).toEqual(['ADDED b'])
    expect(await restarted.take(1)).toEqual(['ADDED b'])
  })
})

test('a frozen resource whose history is discarded ends its watches when it thaws', async () => {
  const stream = await watch()
  faults.freeze('configmaps')
  await create('a')
  cluster.cluster.compact()
  faults.thaw('configmaps')
  expect(await stream.next()).toBeUndefined()
})

describe('the request log', () => {
  test('counts by verb and resource, with reads and writes separate', async () => {
    const { requests } = cluster.cluster
    await create('a')
    await exists('a')
    await cluster.send('GET', CONFIG_MAPS)
    await watch()
    await cluster.send('GET', '/version')
    expect(requests.writes).toBe(1)
    expect(requests.reads).toBe(2)
    expect(requests.count({ verb: 'watch' })).toBe(1)
    expect(requests.snapshot()).toMatchObject({ 'create configmaps': 1, 'get configmaps': 1, 'list configmaps': 1 })
    requests.reset()
    expect(requests.count()).toBe(0)
  })

  test('reports every request with its status', async () => {
    const seen: string[] = []
    const unsubscribe = cluster.cluster.requests.onRequest(({ method, name, status }) => {
      seen.push(`${method} ${name ?? ''} ${status}`)
    })
    await cluster.send('GET', `${CONFIG_MAPS}/missing`)
    faults.inject({ verb: 'create' }, { kind: 'reset', when: 'before' })
    await expect(create('a')).rejects.toThrow()
    unsubscribe()
    await create('b')
    expect(seen).toEqual(['GET missing 404', 'POST  0'])
  })
})
