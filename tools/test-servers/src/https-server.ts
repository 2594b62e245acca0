/** A real HTTPS server on a free port, for tests over the network. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { KeyPair } from './certificates.ts'

/** A running server. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Received requests, as `METHOD path`. */
  readonly seen: string[]
  /** TLS connections accepted so far. */
  connections(): number
  /** Closes every open connection abruptly. */
  cutConnections(): void
}

/** Starts a server. `options` may add a client CA. */
export async function startHttps(
  pair: KeyPair,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  options: ServerOptions = {},
): Promise<TestServer> {
  const seen: string[] = []
  const sockets = new Set<TLSSocket>()
  let accepted = 0
  const server = createServer({ cert: pair.certificate, key: pair.key, ...options }, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    handler(request, response)
  })
  server.on('secureConnection', (socket) => {
    accepted++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const cutConnections = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `https://127.0.0.1:${address.port}`,
    port: address.port,
    seen,
    connections: () => accepted,
    cutConnections,
    async [Symbol.asyncDispose]() {
      cutConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** Sends a JSON response. */
export function answer(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
