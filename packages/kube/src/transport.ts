/**
 * The one seam between a client and an API server. The undici transport is used in production; tests put the
 * embedded cluster's in-process handler, or a wrapper that injects faults, in its place.
 */

/** A request as the client composes it, before any credentials are added. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path with query string, such as `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Headers that occur several times, such as `impersonate-group`; a comma would change their meaning. */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>
  readonly body?: string | Uint8Array
  /** Aborting rejects `send`, or ends the body, with the signal's reason. */
  readonly signal?: AbortSignal
  /** The answer stays open, as that of a watch: silence in it is normal. @default false */
  readonly isStream?: boolean
}

/** A response whose body is consumed exactly once, as a stream. */
export interface TransportResponse {
  readonly status: number
  /** Header names in lower case; repeated headers (such as `warning`) come as an array. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Ends early with an error when the connection is lost. Breaking out of the loop cancels the request. */
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * Sends requests to one API server.
 *
 * @example
 * const response = await transport.send({ method: 'GET', path: '/version', headers: {} })
 */
export interface Transport {
  send(request: TransportRequest): Promise<TransportResponse>
  /** Closes pooled connections; requests under way are cancelled. */
  close(): Promise<void>
}
