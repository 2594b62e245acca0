/** A real forward proxy: tunnels by CONNECT, plain http by absolute address, with a password and its own names. */
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A running proxy. */
export interface ForwardProxy extends AsyncDisposable {
  /** Host and port. */
  readonly address: string
  /** `CONNECT host:port` or `GET url` of everything that came, refused or not. */
  readonly seen: readonly string[]
}

/** Options of {@link startForwardProxy}. */
export interface ForwardProxyOptions {
  /** `user:password` that it requires. @default none */
  readonly account?: string
  /** Where names lead, by name; other names are refused. */
  readonly names: Readonly<Record<string, string>>
  /** What it does instead of making a tunnel. */
  readonly misbehave?: (client: Duplex) => void
}

/** Starts one on a free port. */
export async function startForwardProxy({ account, names, misbehave }: ForwardProxyOptions): Promise<ForwardProxy> {
  const seen: string[] = []
  const sockets = new Set<Duplex>()
  const isAllowed = ({ headers }: IncomingMessage) =>
    account === undefined || headers['proxy-authorization'] === `Basic ${Buffer.from(account).toString('base64')}`

  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (!isAllowed(request)) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
      return
    }
    const url = new URL(request.url ?? '')
    const host = names[url.hostname]
    if (host === undefined) {
      response.writeHead(502).end()
      return
    }
    const onward = httpRequest({
      host,
      port: url.port,
      path: `${url.pathname}${url.search}`,
      method: request.method ?? 'GET',
    })
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    seen.push(`CONNECT ${request.url}`)
    const [name = '', port = ''] = (request.url ?? '').split(':')
    const host = names[name]
    if (misbehave !== undefined) return misbehave(client)
    if (!isAllowed(request)) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    if (host === undefined) return client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const onward = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.pipe(client)
      client.pipe(onward)
    })
    sockets.add(onward)
    // When either end closes, the other one is closed, too; the client reports the failure.
    onward.on('error', () => client.destroy())
    client.on('error', () => onward.destroy())
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has such an address.
  const { port } = server.address() as AddressInfo
  return {
    address: `127.0.0.1:${port}`,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
