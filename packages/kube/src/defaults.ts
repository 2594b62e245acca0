/** Every default of this package, with its unit in its name. */

/** Deadline of one call, retries included. The server itself gives up after 60 s. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** Objects per page: what kubectl asks for, about 3 MB of pods. */
export const DEFAULT_PAGE_SIZE = 500

/** Who owns fields written by a client that was not told otherwise. */
export const DEFAULT_FIELD_MANAGER = 'reeve'

/** What the server's audit log shows. */
export const DEFAULT_USER_AGENT = 'reeve-kube/0.1.0'

/** Tries after the first. With the delays below they span about 3 s, longer than a rolling API server restart takes to move on. */
export const DEFAULT_MAX_RETRIES = 4

/** First delay between tries; doubles each time. */
export const DEFAULT_RETRY_BASE_DELAY_MS = 250

/** Longest delay that this side chooses. A server's `Retry-After` may ask for more. */
export const DEFAULT_RETRY_MAX_DELAY_MS = 5_000

/** Largest answer read into memory. A page of 500 objects at the store's limit of 1.5 MB each does not fit; use a smaller limit then. */
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024

/** Largest answer read when it is an error: a Status is small. */
export const MAX_ERROR_BODY_BYTES = 256 * 1024

/** Largest single watch event. Objects are limited to 1.5 MB in the store, and to about 3 MB in a request. */
export const DEFAULT_MAX_WATCH_LINE_BYTES = 16 * 1024 * 1024

/** Discovery is asked again for an unknown kind no more often than this. */
export const DEFAULT_DISCOVERY_INTERVAL_MS = 2_000

/** Connections for ordinary requests; more requests than that wait for a free one. */
export const DEFAULT_CONNECTIONS = 32

/** Time to connect, TLS handshake included. */
export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000

/** The server answers or gives up within 60 s; whoever is silent for longer is not the server. */
export const DEFAULT_HEADERS_TIMEOUT_MS = 70_000

/** Silence in the middle of an ordinary answer. Watches have no such limit: silence is normal there. */
export const DEFAULT_BODY_TIMEOUT_MS = 30_000

/** Idle connections close before common load balancers (60 s and more) drop them. */
export const DEFAULT_KEEP_ALIVE_MS = 30_000

/** TCP keep-alive probes start after this much silence and notice a dead peer about 10 s later. */
export const DEFAULT_TCP_KEEP_ALIVE_MS = 15_000

/** Token, certificate and CA files are read again after this. Bound tokens are rotated at 80 % of an hour. */
export const DEFAULT_FILE_RELOAD_MS = 60_000

/** An exec plugin that needs longer is killed. */
export const DEFAULT_EXEC_TIMEOUT_MS = 60_000
