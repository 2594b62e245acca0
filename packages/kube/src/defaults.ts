/** The defaults of this package, with units in their names. */

/** Deadline of one call, including retries. The server itself times out after 60 s. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** Objects per page: the same as in kubectl, about 3 MB of pods. */
export const DEFAULT_PAGE_SIZE = 500

/** The default manager of written fields. */
export const DEFAULT_FIELD_MANAGER = 'reeve'

/** The default user agent, as shown in the server's audit log. */
export const DEFAULT_USER_AGENT = 'reeve-kube/0.1.0'

/**
 * Retries after the first attempt. With the delays below they span about 3 s, longer than the failover of a rolling API
 * server restart.
 */
export const DEFAULT_MAX_RETRIES = 4

/** First delay between attempts; doubles each time. */
export const DEFAULT_RETRY_BASE_DELAY_MS = 250

/** Longest delay chosen by the client. A server's `Retry-After` may be longer. */
export const DEFAULT_RETRY_MAX_DELAY_MS = 5_000

/**
 * Largest response read into memory. A page of 500 objects at the store's limit of 1.5 MB each is larger; use a smaller
 * limit then.
 */
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024

/** Largest error response: a Status is small. */
export const MAX_ERROR_BODY_BYTES = 256 * 1024

/** Largest single watch event. Objects are limited to 1.5 MB in the store, and to about 3 MB in a request. */
export const DEFAULT_MAX_WATCH_LINE_BYTES = 16 * 1024 * 1024

/** Minimum interval between discovery requests for an unknown kind. */
export const DEFAULT_DISCOVERY_INTERVAL_MS = 2_000

/** Token, certificate and CA files are read again after this. Bound tokens are rotated at 80 % of an hour. */
export const DEFAULT_FILE_RELOAD_MS = 60_000

/** An exec plugin that takes longer is killed. */
export const DEFAULT_EXEC_TIMEOUT_MS = 60_000

/** Output of a command in a container that is kept. */
export const DEFAULT_MAX_EXEC_OUTPUT_BYTES = 1024 * 1024
