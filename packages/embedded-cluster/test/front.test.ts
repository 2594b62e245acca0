import { execFile } from 'node:child_process'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { request as httpsRequest } from 'node:https'
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

function http1(path: string, options: { identity?: Identity; method?: string; body?: string; headers?: object } = {}) {
  const { identity = admin(), method = 'GET', body, headers } = options
  return new Promise<RawResponse>((resolve, reject) => {
    const request = httpsRequest(
      new URL(path, cluster.url),
      { ...identity, method, agent: false, headers: { 'content-type': 'application/json', ...headers } },
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

function http2(): ClientHttp2Session {
  const session = connectHttp2(cluster.url, admin())
  session.on('error', () => undefined)
  sessions.push(session)
  return session
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
  const cli = new URL('../src/cli.ts', import.meta.url).pathname
  const run = (...args: string[]) =>
    new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, [cli, ...args], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, output: stdout + stderr })
      })
    })
  expect(await run('--help')).toMatchObject({ code: 0, output: expect.stringContaining('--data-dir') })
  expect(await run('--port', 'x')).toMatchObject({
    code: 64,
    output: expect.stringContaining('--port must be an integer'),
  })
  expect(await run('--unknown')).toMatchObject({ code: 64 })
  expect(await run('--version')).toMatchObject({ code: 0, output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})
