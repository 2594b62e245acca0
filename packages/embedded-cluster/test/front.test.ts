import { execFile } from 'node:child_process'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type EmbeddedCluster, startEmbeddedCluster } from '../src/index.ts'
import { configMap } from './support/in-process.ts'

let cluster: EmbeddedCluster
const sessions: ClientHttp2Session[] = []

beforeEach(async () => {
  cluster = await startEmbeddedCluster({ controllers: false, maxBufferedEvents: 20 })
})

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy()
  await cluster.stop()
})

interface Identity {
  readonly ca: string
  readonly cert?: string
  readonly key?: string
}

function admin(): Required<Identity> {
  const { users } = parse(cluster.adminKubeconfig())
  const decode = (data: string) => Buffer.from(data, 'base64').toString()
  const { user } = users[0]
  return {
    ca: cluster.caPem,
    cert: decode(user['client-certificate-data']),
    key: decode(user['client-key-data']),
  }
}

interface RawResponse {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: Buffer
}

interface Http1Options {
  readonly identity?: Identity
  readonly method?: string
  readonly body?: string
  readonly headers?: object
  /** Has the identity, instead of the other option. @default a connection for this request */
  readonly agent?: Agent
}

function http1(path: string, options: Http1Options = {}) {
  const { agent, identity = agent === undefined ? admin() : {}, method = 'GET', body, headers } = options
  return new Promise<RawResponse>((resolve, reject) => {
    const request = httpsRequest(
      new URL(path, cluster.url),
      { ...identity, method, agent: agent ?? false, headers: { 'content-type': 'application/json', ...headers } },
      async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk)
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

function http2(identity: Identity = admin()): ClientHttp2Session {
  const session = connectHttp2(cluster.url, identity)
  session.on('error', () => undefined)
  sessions.push(session)
  return session
}

function statusOf(session: ClientHttp2Session, path: string): Promise<number> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': path })
    stream.once('response', (headers) => resolve(Number(headers[':status'])))
    stream.resume()
  })
}

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const EVENTS = 200
const EVENT_BYTES = 100_000

function memoryBytes(): number {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

test('idle connections are kept for longer than clients reuse them', async () => {
  const { headers } = await http1('/version', { headers: { connection: 'keep-alive' } })
  expect(headers['keep-alive']).toBe('timeout=90')
})

describe('the identity', () => {
  test('is that of the client certificate', async () => {
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const answer = await http1(path, { method: 'POST', body: JSON.stringify(review) })
    expect(JSON.parse(answer.body.toString()).status.userInfo).toMatchObject({
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    })
  })

  test('is required: a certificate or a valid token', async () => {
    const anonymous = { ca: cluster.caPem }
    expect((await http1('/version', { identity: anonymous })).status).toBe(401)
    const headers = { authorization: 'Bearer nonsense' }
    expect((await http1('/version', { identity: anonymous, headers })).status).toBe(401)
  })

  test('is that of each connection, for all its requests', async () => {
    const known = http2()
    const unknown = http2({ ca: cluster.caPem })
    const statuses: number[] = []
    for (const session of [known, unknown, known, unknown]) statuses.push(await statusOf(session, '/version'))
    expect(statuses).toEqual([200, 401, 200, 401])
    const agents = [admin(), { ca: cluster.caPem }].map((identity) => new Agent({ ...identity, keepAlive: true }))
    for (const agent of [...agents, ...agents]) statuses.push((await http1('/version', { agent })).status)
    for (const agent of agents) agent.destroy()
    expect(statuses.slice(4)).toEqual([200, 401, 200, 401])
  })

  test('is not accepted from a certificate of another authority', async () => {
    const stranger = await startEmbeddedCluster({ controllers: false })
    try {
      const { users } = parse(stranger.adminKubeconfig())
      const decode = (data: string) => Buffer.from(data, 'base64').toString()
      const identity = {
        ca: cluster.caPem,
        cert: decode(users[0].user['client-certificate-data']),
        key: decode(users[0].user['client-key-data']),
      }
      expect((await http1('/version', { identity })).status).toBe(401)
    } finally {
      await stranger.stop()
    }
  })
})

describe('HTTP/2', () => {
  test('carries many watches on one connection', async () => {
    const session = http2()
    const events: Promise<string>[] = []
    for (let index = 0; index < 100; index += 1) {
      const stream = session.request({ ':path': `${CONFIG_MAPS}?watch=1&resourceVersion=0` })
      stream.setEncoding('utf8')
      events.push(
        new Promise((resolve) => {
          let text = ''
          stream.on('data', (chunk: string) => {
            text += chunk
            if (!text.includes('\n')) return
            stream.close()
            resolve(JSON.parse(text).object.metadata.name)
          })
        }),
      )
      await new Promise((resolve) => stream.once('response', resolve))
    }
    await cluster.api.create('configmaps', configMap('a', {}, { namespace: 'default' }))
    expect(new Set(await Promise.all(events))).toEqual(new Set(['a']))
  })

  test('a large response is compressed for clients that accept it', async () => {
    const data = { text: 'x'.repeat(200_000) }
    await cluster.api.create('configmaps', configMap('a', data, { namespace: 'default' }))
    const plain = await http1(`${CONFIG_MAPS}/a`)
    expect(plain.headers['content-encoding']).toBeUndefined()
    const zipped = await http1(`${CONFIG_MAPS}/a`, { headers: { 'accept-encoding': 'gzip' } })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true)
  })
})

describe('events of one iteration of the event loop', () => {
  /** Reads a watch until `count` lines have arrived. */
  async function watch(session: ClientHttp2Session, query: string, accept = 'application/json') {
    const stream = session.request({ ':path': `${CONFIG_MAPS}?watch=1&resourceVersion=0${query}`, accept })
    await new Promise((resolve) => stream.once('response', resolve))
    const chunks: string[] = []
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
    const lines = () => chunks.join('').split('\n').slice(0, -1)
    return {
      chunks,
      read: async (count: number) => {
        await expect.poll(() => lines().length).toBe(count)
        return lines().map((line) => JSON.parse(line))
      },
    }
  }

  /** Changes that are committed without returning to the event loop; fewer than a watch may buffer. */
  async function change(): Promise<void> {
    for (let index = 0; index < 9; index += 1) {
      const labels = { parity: index % 2 === 0 ? 'even' : 'odd' }
      await cluster.api.create('configmaps', configMap(`n${index}`, {}, { namespace: 'default', labels }))
    }
    await cluster.api.delete('configmaps', 'default', 'n3')
    await cluster.api.create('configmaps', configMap('n3', { again: 'yes' }, { namespace: 'default' }))
  }

  test('arrive in order, and all but the first in one chunk', async () => {
    const { chunks, read } = await watch(http2(), '')
    await change()
    const events = await read(11)
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      ...Array.from({ length: 9 }, (_, index) => `ADDED n${index}`),
      'DELETED n3',
      'ADDED n3',
    ])
    const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion))
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
    expect(chunks.length).toBeLessThanOrEqual(2)
  })

  test('are those that each watch selects, in its representation', async () => {
    const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const session = http2()
    const [even, odd, metadata, rows] = await Promise.all([
      watch(session, '&labelSelector=parity%3Deven'),
      watch(session, '&labelSelector=parity%3Dodd'),
      watch(session, '', partial),
      watch(session, '', table),
    ])
    await change()
    const names = (events: { object: { metadata: { name: string } } }[]) =>
      events.map(({ object }) => object.metadata.name)
    expect(names(await even.read(5))).toEqual(['n0', 'n2', 'n4', 'n6', 'n8'])
    expect(names(await odd.read(5))).toEqual(['n1', 'n3', 'n5', 'n7', 'n3'])
    expect(new Set((await metadata.read(11)).map(({ object }) => object.kind))).toEqual(
      new Set(['PartialObjectMetadata']),
    )
    const tables = (await rows.read(11)).map(({ object }) => object)
    expect(new Set(tables.map(({ kind }) => kind))).toEqual(new Set(['Table']))
    expect(
      tables.map(({ columnDefinitions }) => columnDefinitions !== undefined && columnDefinitions !== null),
    ).toEqual([true, ...Array.from({ length: 10 }, () => false)])
  })
})

describe('hostile traffic', () => {
  test('watchers that do not read are closed, and memory stays bounded', async () => {
    const session = http2()
    const ended: Promise<unknown>[] = []
    for (let index = 0; index < 50; index += 1) {
      const stream = session.request({ ':path': `${CONFIG_MAPS}?watch=1&resourceVersion=0` })
      stream.on('error', () => undefined)
      await new Promise((resolve) => stream.once('response', resolve))
      stream.pause()
      ended.push(new Promise((resolve) => stream.once('close', resolve)))
    }
    const before = memoryBytes()
    const data = { text: 'x'.repeat(EVENT_BYTES) }
    for (let index = 0; index < EVENTS; index += 1) {
      await cluster.api.create('configmaps', configMap(`n${index}`, data, { namespace: 'default' }))
      await new Promise((resolve) => setImmediate(resolve))
    }
    // The objects themselves and some of the events; buffering for each watcher would be fifty times as much.
    expect(memoryBytes() - before).toBeLessThan(10 * EVENTS * EVENT_BYTES)
    expect((await http1('/readyz')).status).toBe(200)
    session.destroy()
    await Promise.all(ended)
    await expect.poll(() => cluster.requests.count({ verb: 'watch' })).toBe(50)
  })
})

test('a server that restarts keeps its address and its state', async () => {
  const { url } = cluster
  await cluster.api.create('configmaps', configMap('a', {}, { namespace: 'default' }))
  await cluster.stopListening()
  await expect(http1('/version')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await cluster.listenAgain()
  expect(cluster.url).toBe(url)
  expect((await http1(`${CONFIG_MAPS}/a`)).status).toBe(200)
})

test('stopping ends open watches cleanly, after their pending events', async () => {
  const ended = http1(`${CONFIG_MAPS}?watch=1&resourceVersion=0`)
  await expect.poll(() => cluster.requests.count({ verb: 'watch' })).toBe(1)
  await cluster.api.create('configmaps', configMap('a', {}, { namespace: 'default' }))
  await cluster.stop()
  const { body } = await ended
  expect(JSON.parse(body.toString())).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
})

test('a connection broken by a fault rule is seen as broken', async () => {
  cluster.faults.inject({ verb: 'get', resource: 'configmaps' }, { kind: 'reset', when: 'before' })
  await expect(http1(`${CONFIG_MAPS}/a`)).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a port that is in use is reported, and nothing keeps running', async () => {
  const port = Number(new URL(cluster.url).port)
  await expect(startEmbeddedCluster({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('the command starts a cluster, rejects invalid options and prints help', async () => {
  const reeve = fileURLToPath(new URL('../../cli/bin/reeve.js', import.meta.url))
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, [reeve, 'cluster', ...args], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, output: stdout + stderr })
      })
    })
  expect(await run('--help')).toMatchObject({ code: 0, output: expect.stringContaining('--data-dir') })
  expect(await run('--port', 'x')).toMatchObject({
    code: 64,
    output: expect.stringMatching(/--port must be an integer.*not "x"/),
  })
  expect(await run('--unknown')).toMatchObject({ code: 64 })
  expect(await run('--version')).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})
