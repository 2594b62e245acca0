/** The responses that turn a request into a WebSocket, or a connection of SPDY. */
import { type Duplex, duplexPair } from 'node:stream'
import { drained } from '../drained.ts'
import type { ByteChannel } from '../spdy/connection.ts'
import { WebSocketConnection } from '../web-socket/connection.ts'
import { acceptKey, type WebSocketSession } from '../web-socket/handshake.ts'
import type { ServerRequest, ServerResponse } from './exchange.ts'
import { CompleteBody } from './response.ts'

/** Starts the session and responds with the client's end of the connection. */
export function switchToWebSocket(request: ServerRequest, protocol: string, session: WebSocketSession): ServerResponse {
  const [client, server] = duplexPair()
  const connection = new WebSocketConnection(server)
  const onAbort = () => client.destroy()
  request.signal?.addEventListener('abort', onAbort, { once: true })
  void session(connection)
    // The session reports its failures to the client on its own channel; this is a lost connection.
    .catch(() => undefined)
    .finally(() => {
      connection.close()
      request.signal?.removeEventListener('abort', onAbort)
    })
  return {
    status: 101,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-accept': acceptKey(request.headers['sec-websocket-key'] ?? ''),
      'sec-websocket-protocol': protocol,
    },
    body: new CompleteBody([]),
    socket: client satisfies Duplex,
  }
}

/** The same for SPDY, whose frames follow on the connection itself. */
export function switchToSpdy(
  request: ServerRequest,
  protocol: string,
  session: (channel: ByteChannel) => Promise<void>,
): ServerResponse {
  const [client, server] = duplexPair()
  // The session ends with the connection.
  server.on('error', () => undefined)
  const onAbort = () => client.destroy()
  request.signal?.addEventListener('abort', onAbort, { once: true })
  void session({ chunks: server, send: (bytes) => write(server, bytes) })
    .catch(() => undefined)
    .finally(() => {
      server.end()
      request.signal?.removeEventListener('abort', onAbort)
    })
  return {
    status: 101,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol },
    body: new CompleteBody([]),
    socket: client,
  }
}

async function write(stream: Duplex, bytes: Uint8Array): Promise<void> {
  if (stream.writable && !stream.write(bytes)) await drained(stream)
}
