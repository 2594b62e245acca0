/**
 * A request and its response without a socket. The TLS front turns HTTP into these, and tests or a simulation
 * call the handler directly. Structurally the same as the client package's transport, on purpose: an in-process
 * client needs no adapter, and neither package depends on the other.
 */
import type { Duplex } from 'node:stream'
import type { UserInfo } from '../api/user.ts'

/** A request from the TLS front or an in-process caller. */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path with query string. */
  readonly path: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The values of headers that occur several times, such as `impersonate-group`; takes precedence over {@link headers}.
   */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>
  readonly body?: string | Uint8Array
  readonly signal?: AbortSignal
  /** The protocol that an in-process caller asks for; the TLS front passes the headers of the client. */
  readonly upgrade?: 'websocket'
  /** Set by the TLS front from the client certificate; in-process callers may set it to impersonate a user. */
  readonly user?: UserInfo
}

/** A response; its body can be read once, and does not end on its own if it is a watch. */
export interface ServerResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: AsyncIterable<Uint8Array>
  /** The connection after a 101, when the request asked for an upgrade. */
  readonly socket?: Duplex
}
