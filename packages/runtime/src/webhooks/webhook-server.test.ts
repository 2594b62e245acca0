import { once } from 'node:events'
import { Agent, type RequestOptions, request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { CertificateHolder, type ServingCertificate } from '../certificates/certificate-source.ts'
import { issueAuthority, issueServing } from '../certificates/issue-certificate.ts'
import { WEBHOOK_DEFAULTS } from '../defaults.ts'
import { allow } from './admission-review.ts'
import { type AdmissionHandler, validatingWebhook } from './admission-webhook.ts'
import { parseDuration } from './request-body.ts'
import { WebhookRouter } from './webhook-router.ts'
import { WebhookServer, type WebhookServerOptions } from './webhook-server.ts'

// Real sockets check dates against the machine's clock.
const validity = { nowMs: Date.now(), validityMs: 3_600_000 }
const HOST = 'webhook.shop.svc'
let authority: ServingCertificate
let serving: ServingCertificate
const cleanups: (() => Promise<unknown> | unknown)[] = []

beforeAll(async () => {
  authority = await issueAuthority('test', validity)
  serving = await issueServing(authority, [HOST], validity)
})

afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

type Handler = AdmissionHandler<never, ReturnType<typeof allow>>

async function start(options: Partial<WebhookServerOptions> = {}, handler: Handler = () => allow()) {
  const certificates = new CertificateHolder(serving)
  const router = new WebhookRouter([validatingWebhook('/validate', handler)])
  const server = new WebhookServer(router, { certificates, host: '127.0.0.1', port: 0, ...options })
  const stop = new AbortController()
  const done = server.run(stop.signal)
  cleanups.push(() => {
    stop.abort()
    return done
  })
  const { port } = await server.address()
  return { server, certificates, port, stop, done }
}

const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'uid-1',
    kind: { group: '', version: 'v1', kind: 'Pod' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    operation: 'DELETE',
  },
})

interface Reply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: string
}

function send(port: number, options: RequestOptions & { body?: string | Buffer } = {}): Promise<Reply> {
  const { body = review, headers, ...rest } = options
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        servername: HOST,
        ca: authority.certificate,
        path: '/validate',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
        ...rest,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
        response.on('error', reject)
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

/** A raw TLS connection, for clients that misbehave. */
function open(port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername: HOST, ca: authority.certificate, maxVersion })
    cleanups.push(() => socket.destroy())
    socket.once('secureConnect', () => resolve(socket))
    socket.once('error', reject)
  })
}

function untilClosed(socket: TLSSocket): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(text))
  })
}

test('a webhook server responds to a review over TLS 1.3 under the name of its service', async () => {
  const { port } = await start()
  const reply = await send(port)
  expect(reply.status).toBe(200)
  expect(JSON.parse(reply.body)).toMatchObject({ response: { uid: 'uid-1', allowed: true } })
  expect((await open(port)).getProtocol()).toBe('TLSv1.3')
})

test('a webhook server rejects a client that supports only TLS 1.2', async () => {
  const { port } = await start()
  await expect(open(port, 'TLSv1.2')).rejects.toThrow(/alert protocol version/)
})

test.each([
  ['another method', { method: 'GET', body: '' }, 405],
  ['another path', { path: '/other' }, 404],
  ['a target without a host', { path: '//' }, 400],
  ['a target with an impossible port', { path: 'http://example.com:99999/validate' }, 400],
  ['another content type', { headers: { 'content-type': 'text/yaml' } }, 415],
  ['no content type', { headers: { 'content-type': '' } }, 415],
  ['a body that is not JSON', { body: '{"password":"hunter2"' }, 400],
  ['a body that is not a review', { body: '{}' }, 400],
  ['an object that is nested too deep', { body: '['.repeat(20_000) }, 400],
])('%s is refused with the right status', async (_name, options, status) => {
  const { port } = await start()
  const reply = await send(port, options)
  expect(reply.status).toBe(status)
  expect(reply.body).not.toContain('hunter2')
})

test('a probe over TLS returns only its status, and only where it is enabled', async () => {
  const { port } = await start({ livenessPath: '/livez' })
  expect(await send(port, { method: 'GET', path: '/livez?verbose', body: '' })).toMatchObject({ status: 200, body: '' })
  expect(await send(port, { method: 'POST', path: '/livez' })).toMatchObject({ status: 404 })
  const { port: other } = await start()
  expect(await send(other, { method: 'GET', path: '/livez', body: '' })).toMatchObject({ status: 405 })
})

test('a content type with parameters is fine', async () => {
  const { port } = await start()
  expect((await send(port, { headers: { 'content-type': 'application/json; charset=utf-8' } })).status).toBe(200)
})

test('a body with a large Content-Length is rejected immediately, one that grows too large while it is read', async () => {
  const { port } = await start({ maxBodyBytes: 1_000 })
  const body = Buffer.alloc(5_000, 32)
  expect((await send(port, { body })).status).toBe(413)
  expect((await send(port, { body, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413)
  expect((await send(port)).status).toBe(200)
})

test('bodies that together exceed the memory set aside for them are rejected with a request to retry', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const { port } = await start({ maxBufferedBytes: review.length + 10 }, async () => {
    begun.resolve()
    await finish.promise
    return allow()
  })
  const first = send(port)
  await begun.promise
  expect(await send(port)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
  finish.resolve()
  expect((await first).status).toBe(200)
  expect((await send(port)).status).toBe(200)
})

test('a client that sends its headers or its body drop by drop is cut off', async () => {
  const { port } = await start({ headersTimeoutMs: 100, requestTimeoutMs: 200 })
  const headers = await open(port)
  headers.write('POST /validate HTTP/1.1\r\nhost: x\r\nx-slow: ')
  expect(await untilClosed(headers)).toContain('408')
  const body = await open(port)
  body.write('POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{')
  expect(await untilClosed(body)).toContain('408')
  expect((await send(port)).status).toBe(200)
})

test('a client that connects and says nothing is cut off', async () => {
  const { port } = await start({ headersTimeoutMs: 100 })
  const silent = await open(port)
  await untilClosed(silent)
})

test('the timeout that the API server sends limits the handler', async () => {
  const { port } = await start({}, () => new Promise(() => undefined))
  const reply = await send(port, { path: '/validate?timeout=100ms' })
  expect(JSON.parse(reply.body)).toMatchObject({ response: { allowed: false, status: { code: 504 } } })
})

test('a client that disconnects aborts its handler', async () => {
  const aborted = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { port } = await start({}, (_request, signal) => {
    begun.resolve()
    signal.addEventListener('abort', () => aborted.resolve())
    return new Promise(() => undefined)
  })
  const socket = await open(port)
  socket.write(
    `POST /validate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${review.length}\r\n\r\n${review}`,
  )
  await begun.promise
  socket.destroy()
  await aborted.promise
})

test('certificates rotate under a stream of requests without a failed one', async () => {
  const { port, certificates } = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  cleanups.push(() => agent.destroy())
  let isOver = false
  const statuses: number[] = []
  const shown = new Set<string>()
  const stream = async (reuse: boolean) => {
    while (!isOver) statuses.push((await send(port, { agent: reuse ? agent : false })).status)
  }
  const streams = [stream(true), stream(true), stream(false), stream(false)]
  for (let rotation = 0; rotation < 10; rotation++) {
    certificates.set(await issueServing(authority, [HOST], validity))
    const socket = await open(port)
    shown.add(socket.getPeerX509Certificate()?.fingerprint256 ?? '')
    socket.destroy()
  }
  isOver = true
  await Promise.all(streams)
  expect(shown.size).toBe(10)
  expect(statuses.length).toBeGreaterThan(20)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a certificate that cannot be used leaves the old one in place', async () => {
  const { port, certificates } = await start()
  certificates.set({ certificate: 'nonsense', privateKey: 'nonsense' })
  expect((await send(port)).status).toBe(200)
})

test('a stop completes requests in progress, closes every connection and rejects new ones', async () => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const { port, stop, done } = await start({}, async () => {
    begun.resolve()
    await finish.promise
    return allow()
  })
  const idle = await open(port)
  const idleClosed = untilClosed(idle)
  const underWay = send(port)
  await begun.promise
  stop.abort()
  await expect(open(port)).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  finish.resolve()
  const reply = await underWay
  expect([reply.status, reply.headers.connection]).toEqual([200, 'close'])
  await done
  await idleClosed
})

test('a stop does not wait forever for a handler that hangs', async () => {
  const begun = Promise.withResolvers<void>()
  const { port, stop, done } = await start({ drainTimeoutMs: 50 }, () => {
    begun.resolve()
    return new Promise(() => undefined)
  })
  const underWay = send(port)
  underWay.catch(() => undefined)
  await begun.promise
  stop.abort()
  await done
  await expect(underWay).rejects.toThrow(/socket hang up|ECONNRESET/)
})

test('a stop does not wait for a client that never finishes its handshake', async () => {
  const { port, stop, done } = await start({ headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 })
  const silent = connectPlain({ port, host: '127.0.0.1' })
  await once(silent, 'connect')
  stop.abort()
  await done
  silent.destroy()
})

test('it listens only once there is a certificate, and stops while it waits for one', async () => {
  const certificates = new CertificateHolder()
  const server = new WebhookServer(new WebhookRouter([]), { certificates, host: '127.0.0.1', port: 0 })
  const stop = new AbortController()
  const done = server.run(stop.signal)
  stop.abort()
  await done
  await expect(server.whenReady()).rejects.toBe(stop.signal.reason)
})

test('a port that is taken ends the run with the error', async () => {
  const { port } = await start()
  const options = { certificates: new CertificateHolder(serving), host: '127.0.0.1', port }
  const second = new WebhookServer(new WebhookRouter([]), options)
  await expect(second.run(new AbortController().signal)).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test('reviews are also handled without a socket', async () => {
  const { server } = await start()
  expect(await server.handle('/validate', JSON.parse(review))).toMatchObject({ response: { allowed: true } })
})

test.each([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['1.5s', 1_500],
  ['', undefined],
  ['10', undefined],
  ['-1s', undefined],
  ['soon', undefined],
])('the duration "%s" of a review is read', (text, expected) => {
  expect(parseDuration(text)).toBe(expected)
})

test('a body that arrives in pieces is read whole', async () => {
  const { port } = await start()
  const socket = await open(port)
  const body = review.replace('uid-1', 'uid-é')
  const bytes = Buffer.from(body)
  const received = untilClosed(socket)
  const head = `POST /validate HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: ${bytes.length}\r\n\r\n`)
  // Within a character of two bytes as well.
  for (const byte of bytes) socket.write(Buffer.of(byte))
  expect(await received).toContain('"uid":"uid-é"')
})

test('as many connections as are allowed, all of them idle, do not keep the API server out', async () => {
  const { port } = await start()
  const idle = await Promise.all(
    Array.from({ length: WEBHOOK_DEFAULTS.maxConnections }, async () => {
      const socket = connectPlain(port, '127.0.0.1')
      // The oldest is closed by the server.
      socket.on('error', () => undefined)
      cleanups.push(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }),
  )
  expect((await send(port)).status).toBe(200)
  expect(idle.filter(({ destroyed }) => !destroyed).length).toBeGreaterThan(WEBHOOK_DEFAULTS.maxConnections - 10)
})
