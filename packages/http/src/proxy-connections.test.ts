/** Failures of connections through a proxy, over real sockets. */
import { connect, type Socket } from 'node:net'
import { inspect } from 'node:util'
import {
  answer,
  createAuthority,
  get,
  type ProxyBehaviour,
  read,
  startHttps,
  startMisbehavingProxy,
  transportOf,
  trusting,
  type WireFixture,
  wireFixture,
} from '@reeve/test-servers'
import { beforeAll, describe, expect, it } from 'vitest'

let wire: WireFixture
beforeAll(async () => {
  wire = await wireFixture()
})

const answers =
  (head: string): ProxyBehaviour =>
  (socket) =>
    socket.end(`HTTP/1.1 ${head}\r\n\r\nuser hunter2 is not welcome`)

const tunnels: ProxyBehaviour = (socket, { port }) => {
  const onward = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    onward.pipe(socket).pipe(onward)
  })
  onward.on('error', () => socket.destroy())
  socket.on('close', () => onward.destroy())
}

/** The error of a request through a proxy with a password. */
async function failureOf(behave: ProxyBehaviour, server = 'https://tenant.example:8443') {
  await using proxy = await startMisbehavingProxy(behave)
  await using transport = transportOf(
    {
      server,
      trust: trusting(wire.authority.certificate),
      proxyUrl: `http://user:hunter2@${proxy.address}`,
    },
    { connectTimeoutMs: 300 },
  )
  const error = await transport.send(get('/x')).catch((reason: unknown) => reason)
  return { error, message: String(error).replace(proxy.address, 'PROXY'), address: proxy.address, seen: proxy.seen }
}

describe('a proxy', () => {
  it.each([
    ['403 Forbidden', 403, 'with 403 Forbidden; allow the address in the proxy, or reach it without the proxy'],
    ['407 Proxy Authentication Required', 407, 'with 407 Proxy Authentication Required; check the user name and the'],
    ['502 Bad Gateway', 502, 'with 502 Bad Gateway; the proxy cannot reach the server; check the network of the proxy'],
    ['999 No', 999, 'with 999; check the proxy'],
  ])('that rejects a tunnel is named, with its response: %s', async (head, status, message) => {
    const { error, message: text, address } = await failureOf(answers(head))
    expect(error).toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect', proxy: { host: address, status } })
    expect(text).toContain(`the proxy PROXY rejected the tunnel to tenant.example:8443 ${message}`)
  })

  it.each<[string, ProxyBehaviour, string]>([
    ['disconnects', (socket) => socket.destroy(), 'closed the connection before it responded to the tunnel'],
    [
      'disconnects in the middle of a response',
      (socket) => socket.end('HTTP/1.1 200 Conn'),
      'closed the connection before it responded',
    ],
    ['resets', (socket) => socket.resetAndDestroy(), 'closed the connection before it responded to the tunnel'],
    [
      'does not respond',
      () => undefined,
      'did not respond to the tunnel to tenant.example:8443 within 300 ms; check the proxy',
    ],
    ['is not a proxy', (socket) => socket.end('SSH-2.0-OpenSSH\r\n'), 'cannot be used'],
  ])('that %s is named', async (_what, behave, message) => {
    const { error, message: text, address } = await failureOf(behave)
    expect(error).toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect', proxy: { host: address } })
    expect(text).toContain(`the proxy PROXY ${message}`)
  })

  it.each([
    [
      '407 Proxy Authentication Required',
      'rejected the request with 407 Proxy Authentication Required; check the user',
    ],
  ])('of an http server is named too: %s', async (head, message) => {
    const { error, message: text, seen } = await failureOf(answers(head), 'http://tenant.example')
    expect(error).toMatchObject({ code: 'HTTP_CONNECTION', phase: 'connect', proxy: { status: 407 } })
    expect(text).toContain(`the proxy PROXY ${message}`)
    expect(seen).toEqual(['GET http://tenant.example/x HTTP/1.1'])
  })

  it.each(['https://tenant.example', 'http://tenant.example'])('that is not reachable is named: %s', async (server) => {
    const proxyUrl = 'http://user:hunter2@127.0.0.1:1'
    await using transport = transportOf({ server, trust: {}, proxyUrl })
    await expect(transport.send(get('/x'))).rejects.toThrow(
      /^the proxy 127.0.0.1:1 cannot be used: .*ECONNREFUSED.*; check its address and certificate$/,
    )
  })

  it.each<ProxyBehaviour>([
    answers('407 No'),
    (socket) => socket.destroy(),
    (socket) => socket.end('nonsense\r\n\r\n'),
  ])('is never shown with its password', async (behave) => {
    for (const server of ['https://tenant.example', 'http://tenant.example']) {
      const { error } = await failureOf(behave, server)
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('hunter2')
    }
  })

  it('is not blamed for an untrusted server', async () => {
    const stranger = await createAuthority('stranger')
    await using server = await startHttps(await stranger.server(), (_request, response) => answer(response, 200, {}))
    const { error } = await failureOf(tunnels, server.url)
    expect(error).toMatchObject({ code: 'HTTP_CONNECTION', proxy: undefined })
    expect(String(error)).not.toContain('the proxy')
  })
})

describe('a TLS proxy', () => {
  const through = async (trusted: string, proxyPair = wire.pair) => {
    await using server = await startHttps(wire.pair, (_request, response) => answer(response, 200, {}))
    await using proxy = await startMisbehavingProxy(tunnels, proxyPair)
    await using transport = transportOf(
      wire.configOf(server, {
        trust: trusting(trusted),
        proxyUrl: `https://user:hunter2@${proxy.address.replace('127.0.0.1', 'localhost')}`,
      }),
    )
    const response = await transport.send(get('/x'))
    await read(response.body)
    return response.status
  }

  it('is trusted if a trusted authority signed its certificate', async () => {
    expect(await through(wire.authority.certificate)).toBe(200)
  })

  it('is rejected otherwise, before it gets the password', async () => {
    const stranger = await createAuthority('stranger')
    await expect(through(wire.authority.certificate, await stranger.server())).rejects.toThrow(
      /^the proxy localhost:\d+ cannot be used: .*certificate.*; check its address and certificate$/,
    )
  })
})

it('a client closes while a proxy does not respond', async () => {
  const arrived = Promise.withResolvers<Socket>()
  await using proxy = await startMisbehavingProxy((socket) => arrived.resolve(socket))
  const transport = transportOf({
    server: 'https://tenant.example',
    trust: {},
    proxyUrl: `http://${proxy.address}`,
  })
  const request = transport.send(get('/x')).catch((error: unknown) => error)
  const socket = await arrived.promise
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await transport.close()
  expect(await request).toMatchObject({ code: 'HTTP_CONNECTION' })
  await closed
})
