/** How exchanges end: normally, with an error, with a timeout, or cancelled. */
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { get, listen, read, startHttps, transportOf, type WireFixture, wireFixture } from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Transport } from './transport.ts'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

describe('failures', () => {
  it('distinguish a server that was never reached from one that may have processed the request', async () => {
    await using server = await startHttps(wire.pair, (request) => request.socket.destroy())
    await using transport = transportOf(wire.configOf(server))
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'HTTP_CONNECTION', phase: 'request' })

    const closed = createTcpServer()
    const port = await listen(closed)
    await new Promise((resolve) => closed.close(resolve))
    await using unreachable = transportOf({ ...wire.configOf(server), server: `https://127.0.0.1:${port}` })
    await expect(unreachable.send(get('/x'))).rejects.toMatchObject({ phase: 'connect', message: /ECONNREFUSED/ })
  })

  it('report a request that cannot be sent at all', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => response.end('{}'))
    await using transport = transportOf(wire.configOf(server))
    const request = get('/x', { headers: { 'impersonate-user': 'jane\nx-injected: 1' } })
    await expect(transport.send(request)).rejects.toMatchObject({
      code: 'HTTP_INVALID_REQUEST',
      message: /invalid impersonate-user header/,
    })
    expect(server.seen).toEqual([])
  })

  it('report an interrupted response, after the bytes that arrived', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('partial', () => response.destroy())
    })
    await using transport = transportOf(wire.configOf(server))
    const { body } = await transport.send(get('/x'))
    const iterator = body[Symbol.asyncIterator]()
    expect(Buffer.from((await iterator.next()).value ?? []).toString()).toBe('partial')
    await expect(iterator.next()).rejects.toMatchObject({ code: 'HTTP_CONNECTION', phase: 'response' })
  })

  it('limit the time until headers arrive, and the silence in a response but not in a stream', async () => {
    const { promise: gaveUp, resolve } = Promise.withResolvers<void>()
    await using server = await startHttps(wire.pair, (request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200).write('x')
      // The stream is silent for as long as the stalled response took to time out, and continues after that.
      if (request.url === '/stalled') response.on('close', resolve)
      else gaveUp.then(() => response.end('y'))
    })
    const limits = { headersTimeoutMs: 100, bodyTimeoutMs: 100 }
    await using transport = transportOf(wire.configOf(server), limits)
    const [silent, stalled, stream] = await Promise.all([
      transport.send(get('/silent')).catch(String),
      transport
        .send(get('/stalled'))
        .then(({ body }) => read(body))
        .catch(String),
      transport.send(get('/stream', { isStream: true })).then(({ body }) => read(body)),
    ])
    expect(silent).toContain('Headers Timeout Error')
    expect(stalled).toContain('Body Timeout Error')
    expect(stream).toBe('xy')
  })

  it('end with the reason of the signal: while connecting, while waiting, while reading', async () => {
    const reason = new Error('shutting down')
    const silent = createTcpServer()
    const port = await listen(silent)
    await using server = await startHttps(wire.pair, (request, response) => {
      if (request.url === '/stream') response.writeHead(200).write('x')
    })
    const abortAfter = async (transport: Transport, path: string, ready: () => Promise<unknown>) => {
      const controller = new AbortController()
      const work = transport
        .send(get(path, { signal: controller.signal }))
        .then(({ body }) => read(body))
        .catch((error: unknown) => error)
      await ready()
      controller.abort(reason)
      return work
    }
    {
      await using connecting = transportOf({ ...wire.configOf(server), server: `https://127.0.0.1:${port}` })
      expect(await abortAfter(connecting, '/x', () => once(silent, 'connection'))).toBe(reason)
    }
    silent.close()
    await using transport = transportOf(wire.configOf(server))
    const seen = (count: number) => async () => {
      while (server.seen.length < count) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await abortAfter(transport, '/silent', seen(1))).toBe(reason)
    expect(await abortAfter(transport, '/stream', seen(2))).toBe(reason)
    await expect(transport.send(get('/x', { signal: AbortSignal.abort(reason) }))).rejects.toBe(reason)
  })

  it('end the request when its reader stops', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>()
    await using server = await startHttps(wire.pair, (request, response) => {
      request.on('close', () => resolve())
      response.writeHead(200).write('{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n')
    })
    await using transport = transportOf(wire.configOf(server))
    const { body } = await transport.send(get('/stream', { isStream: true }))
    for await (const chunk of body) {
      expect(String(chunk)).toContain('"a"')
      break
    }
    await gone
  })

  it('end all requests when the transport closes, and accept no more', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => response.writeHead(200).write('x'))
    await using transport = transportOf(wire.configOf(server))
    const { body } = await transport.send(get('/stream', { isStream: true }))
    const reading = read(body).catch(String)
    await transport.close()
    expect(await reading).toContain('the client is closed')
    await expect(transport.send(get('/x'))).rejects.toThrow('the client is closed')
  })

  it('apply backpressure to a server that sends faster than the reader reads', async () => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let written = 0
    await using server = await startHttps(wire.pair, async (_request, response) => {
      response.writeHead(200)
      for (let sent = 0; sent < 512 && !response.destroyed; sent++) {
        written += chunk.length
        if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve))
      }
      response.end()
    })
    await using transport = transportOf(wire.configOf(server))
    const { body } = await transport.send(get('/big'))
    const iterator = body[Symbol.asyncIterator]()
    const first = await iterator.next()
    // The sockets on both sides buffer a few megabytes; half of the response must still be unsent.
    for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(written).toBeLessThan(512 * chunk.length * 0.5)
    let total = first.value?.byteLength ?? 0
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) total += next.value.byteLength
    expect(total).toBe(512 * chunk.length)
  })
})
