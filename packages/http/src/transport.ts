/**
 * The interface between a client and a server. Production uses the undici transport; tests use the embedded
 * cluster's in-process handler or a wrapper that injects faults.
 */
import type { Duplex } from 'node:stream'

/** A request without credentials. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path with query string, such as `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Repeated headers, such as `impersonate-group`; joining them with a comma would change their meaning. */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>
  readonly body?: string | Uint8Array
  /** Aborting rejects `send`, or ends the body, with the signal's reason. */
  readonly signal?: AbortSignal
  /** Whether the response stays open, as in a watch, where silence is normal. @default false */
  readonly isStream?: boolean
  /** Asks the server to continue with another protocol on this connection. @default none */
  readonly upgrade?: 'websocket'
}

/** A response whose body can be read once, as a stream. */
export interface TransportResponse {
  readonly status: number
  /** Header names in lower case; repeated headers (such as `warning`) are an array. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Ends early with an error when the connection is lost. Breaking out of the loop cancels the request. */
  readonly body: AsyncIterable<Uint8Array>
  /** The connection after a 101, when the request asked for an upgrade. Its owner must destroy it. */
  readonly socket?: Duplex
}

/**
 * Sends requests to one server. `send`, and reading a body, fail with `HttpConnectionError` when the connection fails.
 *
 * @example
 * const response = await transport.send({ method: 'GET', path: '/version', headers: {} })
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>
  /** Closes pooled connections; requests in progress are cancelled. */
  close(): Promise<void>
}
