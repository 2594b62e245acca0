/** kubectl's port forwarding to simulated pods. A real cluster's nodes are simulated too, and forward nothing. */
import { connect, createServer, type Server } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { KubeConfig, PortForward } from '@kubernetes/client-node'
import { findClientBinary } from '@reeve/client-binaries'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ClientSession } from './support/client-session.ts'

const kubectl = await findClientBinary('kubectl')

const LARGE = 'a line of a large response\n'.repeat(2_000)
const http = { 8080: 'hello\n', 9090: { '/large': LARGE } }
const manifest = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'served', annotations: { 'simulator.reeve.dev/http': JSON.stringify(http) } },
  spec: { containers: [{ name: 'main', image: 'web:1' }] },
})

describe.skipIf(kubectl === undefined)('kubectl port-forward (skipped without kubectl)', () => {
  let session: ClientSession
  let echo: Server

  beforeAll(async () => {
    echo = createServer((socket) => socket.pipe(socket))
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const port = () => (echo.address() as { readonly port: number }).port
    session = await ClientSession.open({
      embedded: {
        resolvePodPort: (wanted) => (wanted.name === 'served' && wanted.port === 5000 ? { port: port() } : undefined),
      },
    })
    await session.run(kubectl ?? '', ['apply', '-f', '-'], manifest)
    await session.run(kubectl ?? '', ['wait', '--for=condition=Ready', 'pod/served', '--timeout=60s'])
  })
  afterAll(async () => {
    await session?.close()
    echo?.close()
  })

  /** Starts kubectl; resolves when it listens, with the local ports. */
  async function forward(args: readonly string[], env: Readonly<Record<string, string>>) {
    const following = session.follow(kubectl ?? '', ['port-forward', ...args], env)
    const listening = () =>
      [...following.output.matchAll(/from 127\.0\.0\.1:(\d+) ->/g)].map(([, port]) => Number(port))
    const wanted = args.length - 1
    await vi.waitFor(() => expect(listening(), following.errors).toHaveLength(wanted), { timeout: 30_000 })
    const ports = listening()
    return { following, ports, [Symbol.asyncDispose]: () => following[Symbol.asyncDispose]() }
  }

  describe.each([
    { way: 'a WebSocket', isWebSocket: 'true' },
    { way: 'SPDY', isWebSocket: 'false' },
  ])('by $way', ({ isWebSocket }) => {
    const env = { KUBECTL_PORT_FORWARD_WEBSOCKETS: isWebSocket }
    test('reaches what the pod serves, over several connections at once', async () => {
      await using forwarded = await forward(['pod/served', ':8080', ':9090'], env)
      const [small, large] = forwarded.ports
      const get = (port: number | undefined, path: string) => fetch(`http://127.0.0.1:${port}${path}`)
      const texts = await Promise.all(['/', '/a', '/b'].map(async (path) => (await get(small, path)).text()))
      expect(texts).toEqual(['hello\n', 'hello\n', 'hello\n'])
      expect(await (await get(large, '/large')).text()).toBe(LARGE)
      expect((await get(large, '/absent')).status).toBe(404)
    })

    test('reaches a server of this machine, and reports a port that nothing serves', async () => {
      await using forwarded = await forward(['pod/served', ':5000', ':7000'], env)
      const [echoPort = 0, closedPort = 0] = forwarded.ports
      const socket = connect(echoPort, '127.0.0.1')
      socket.end(LARGE)
      expect(await text(socket)).toBe(LARGE)
      await expect(fetch(`http://127.0.0.1:${closedPort}/`)).rejects.toThrow()
      await vi.waitFor(() => expect(forwarded.following.errors).toContain('nothing serves its port 7000'))
    })
  })

  test('is not the only client: @kubernetes/client-node reaches the pod by channels', async () => {
    const config = new KubeConfig()
    config.loadFromFile(session.kubeconfigPath)
    const input = new PassThrough()
    const output = new PassThrough()
    const socket = await new PortForward(config).portForward(session.namespace, 'served', [8080], output, null, input)
    input.write('GET / HTTP/1.1\r\nhost: pod\r\nconnection: close\r\n\r\n')
    let received = ''
    output.on('data', (chunk) => {
      received += String(chunk)
    })
    await vi.waitFor(() => expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n.*hello\n/s))
    if ('close' in socket) socket.close()
  })
})
