/** Limits the connections of a server so that idle ones never keep out those with something to say. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Beyond `max` connections the one is closed that has been without a complete request for the longest time, handshakes
 * included; a new one only when all others are busy. There is no limit per address: API servers behind a proxy share one.
 *
 * @example
 * limitConnections(server, 1_000)
 */
export function limitConnections(server: Server, max: number): void {
  const open = new Set<string>()
  // In the order in which they became idle.
  const idle = new Map<string, Socket>()
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    open.add(peer)
    idle.set(peer, socket)
    socket.once('close', () => {
      open.delete(peer)
      idle.delete(peer)
    })
    if (open.size <= max) return
    const [longest] = idle.values()
    longest?.destroy()
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // With TLS this is another socket than that of the connection; its peer is the same.
    const peer = peerOf(request.socket)
    const connection = idle.get(peer)
    if (connection === undefined) return
    const leave = () => idle.delete(peer)
    leave()
    if (hasBody(request)) {
      // Until all of it has arrived, it may be one that never does.
      idle.set(peer, connection)
      request.once('end', leave)
    }
    response.once('close', () => {
      leave()
      if (open.has(peer)) idle.set(peer, connection)
    })
  })
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Unique among the open connections of a server. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
