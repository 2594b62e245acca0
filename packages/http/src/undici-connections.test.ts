/** Trust and proxies of a transport. */
import { createServer as createHttpServer } from 'node:http'
import { connect as connectTcp } from 'node:net'
import {
  answer,
  createAuthority,
  fixed,
  get,
  listen,
  read,
  startHttps,
  transportOf,
  trusting,
  type WireFixture,
  wireFixture,
} from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'
import { HttpConnectionError } from './http-error.ts'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

describe('trust', () => {
  it('rejects a server whose certificate another authority signed, before sending anything', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    const other = await createAuthority('other authority')
    await using transport = transportOf(
      wire.configOf(server, { trust: trusting(other.certificate), credentials: fixed({ authorization: 'Bearer t' }) }),
    )
    await expect(transport.send(get('/x'))).rejects.toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect' })
    expect(server.seen).toEqual([])
  })

  it('verifies the configured server name', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    const named = (serverName: string) =>
      transportOf(wire.configOf(server, { trust: { ...trusting(wire.authority.certificate), serverName } }))
    await using good = named('inner.example.com')
    await using bad = named('outer.example.com')
    expect((await good.send(get('/x'))).status).toBe(200)
    await expect(bad.send(get('/x'))).rejects.toThrow(/outer.example.com/)
  })

  it('accepts any certificate when verification is disabled', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    await using transport = transportOf(wire.configOf(server, { trust: { insecureSkipTlsVerify: true } }))
    expect((await transport.send(get('/x'))).status).toBe(200)
  })

  it('uses a rotated authority without closing open streams', async () => {
    const next = await createAuthority('next authority')
    await using before = await startHttps(wire.pair, (_request, response) => response.writeHead(200).write('open\n'))
    let certificate = wire.authority.certificate
    await using transport = transportOf(
      wire.configOf(before, { trust: { certificateAuthority: { read: async () => certificate } } }),
    )
    const stream = (await transport.send(get('/stream', { isStream: true }))).body[Symbol.asyncIterator]()
    await stream.next()
    certificate = next.certificate
    await expect(transport.send(get('/x'))).rejects.toThrow(HttpConnectionError)
    certificate = wire.authority.certificate
    expect((await transport.send(get('/x', { isStream: true }))).status).toBe(200)
    const pending = stream.next()
    before.cutConnections()
    await expect(pending).rejects.toThrow(HttpConnectionError)
  })

  it('never sends credentials over plain http', async () => {
    const seen: unknown[] = []
    const server = createHttpServer((request, response) => {
      seen.push(request.headers.authorization)
      answer(response, 200, {})
    })
    const port = await listen(server)
    const config = {
      server: `http://127.0.0.1:${port}`,
      trust: {},
      credentials: fixed({ authorization: 'Bearer t' }),
    }
    {
      await using transport = transportOf(config)
      await read((await transport.send(get('/x'))).body)
    }
    server.close()
    expect(seen).toEqual([undefined])
  })
})

describe('proxies', () => {
  it('get a tunnel request, with the credentials of the proxy only', async () => {
    await using server = await startHttps(wire.pair, (request, response) =>
      answer(response, 200, { auth: request.headers.authorization }),
    )
    const asked: unknown[] = []
    const proxy = createHttpServer()
    proxy.on('connect', (request, socket) => {
      asked.push({
        target: request.url,
        auth: request.headers['proxy-authorization'],
        token: request.headers.authorization,
      })
      const upstream = connectTcp(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
    })
    const port = await listen(proxy)
    const proxyUrl = `http://user:pass@127.0.0.1:${port}`
    {
      await using transport = transportOf(
        wire.configOf(server, { proxyUrl, credentials: fixed({ authorization: 'Bearer t' }) }),
      )
      expect(JSON.parse(await read((await transport.send(get('/x'))).body))).toEqual({ auth: 'Bearer t' })
    }
    proxy.close()
    expect(asked).toEqual([
      {
        target: `127.0.0.1:${server.port}`,
        auth: `Basic ${Buffer.from('user:pass').toString('base64')}`,
        token: undefined,
      },
    ])
  })

  it('that are not reachable cause a connection error without their password', async () => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    await using transport = transportOf(wire.configOf(server, { proxyUrl: 'http://user:hunter2@127.0.0.1:1' }))
    const error = await transport.send(get('/x')).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect' })
    expect(String(error)).not.toContain('hunter2')
  })
})
