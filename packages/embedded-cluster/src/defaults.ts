/** What a cluster does unless told otherwise. */

/** Changes remembered for watches that resume, over all resources. */
export const DEFAULT_MAX_EVENTS = 10_000
/** Changes older than this are forgotten when the next one happens. */
export const DEFAULT_MAX_EVENT_AGE_MS = 5 * 60_000
/** Undelivered events above which a watch is cut. */
export const DEFAULT_MAX_BUFFERED_EVENTS = 10_000
/** Where the front listens. */
export const DEFAULT_HOST = '127.0.0.1'
