/** Defaults of a cluster. */

/** Events kept for watches that resume, over all resources. */
export const DEFAULT_MAX_EVENTS = 10_000
/** Events older than this are discarded when the next one is committed, and at intervals. */
export const DEFAULT_MAX_EVENT_AGE_MS = 5 * 60_000
/** A watch with more undelivered events than this is closed. */
export const DEFAULT_MAX_BUFFERED_EVENTS = 10_000
/** Live objects of a cluster. A Deployment with a million replicas fills it instead of the memory of the process. */
export const DEFAULT_MAX_OBJECTS = 200_000
/** The address that the front listens on. */
export const DEFAULT_HOST = '127.0.0.1'
