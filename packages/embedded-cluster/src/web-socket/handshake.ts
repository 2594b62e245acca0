/** The handshake of a WebSocket (RFC 6455), and what follows it. */
import { createHash } from 'node:crypto'
import type { WebSocketConnection } from './connection.ts'

type Headers = Readonly<Record<string, string>>

/** What happens on a connection after its handshake. */
export type WebSocketSession = (connection: WebSocketConnection) => Promise<void>

/** Constant of the protocol, by which a server proves that it read the client's key. */
const HANDSHAKE_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The value of `sec-websocket-accept` for a client's key. */
export function acceptKey(key: string): string {
  return createHash('sha1').update(`${key}${HANDSHAKE_SUFFIX}`).digest('base64')
}

/** The upgrade that a request asks for, in lower case; `undefined` for an ordinary request. */
export function requestedUpgrade(headers: Headers): string | undefined {
  const { connection = '', upgrade } = headers
  return /\bupgrade\b/i.test(connection) ? upgrade?.toLowerCase() : undefined
}

/** The first protocol of the client that is in `supported`. */
export function chooseProtocol(headers: Headers, supported: readonly string[]): string | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())
  return offered.find((name) => supported.includes(name))
}
