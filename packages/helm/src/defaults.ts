/** Every default of this package, with its unit in its name. */

/** Deadline of what only reads. */
export const DEFAULT_READ_TIMEOUT_MS = 60_000

/** Deadline of what changes a release: Helm's own default. */
export const DEFAULT_CHANGE_TIMEOUT_MS = 300_000

/** From the request to end to the kill. Helm needs well under a second to record that it was interrupted. */
export const DEFAULT_KILL_GRACE_MS = 5_000

/**
 * Memory of one Helm process. Four of them, and the process that starts them, fit into the 1 GiB of a container; a chart can
 * make Helm take any amount.
 */
export const DEFAULT_MAX_MEMORY_BYTES = 192 * 1024 * 1024

/** Concurrent Helm processes. Each takes 50 to 80 MiB and, while it renders, one core. */
export const DEFAULT_MAX_CONCURRENT = 4

/** Commands that may wait in the queue. */
export const DEFAULT_MAX_WAITING = 1_000

/** Most of an output stream that is kept: a release prints what its record contains. */
export const DEFAULT_MAX_OUTPUT_BYTES = 8 * 1024 * 1024

/** Revisions that Helm keeps per release: its own default. */
export const DEFAULT_HISTORY_MAX = 10

/**
 * Most bytes of a release record, unpacked. Packed it is at most 768 KiB, as it is encoded twice in a Secret of 1 MiB, and
 * charts, which are Base64 in it, shrink to a third. Reading one takes six times its size.
 */
export const DEFAULT_MAX_RECORD_BYTES = 8 * 1024 * 1024

/** What JSON of Helm may consist of: a large chart has 10,000 values. */
export const HELM_JSON_LIMITS = { maxDepth: 100, maxNodes: 100_000, maxItems: 100_000 } as const

/** Deadline of asking a chart source. */
export const DEFAULT_CHART_TIMEOUT_MS = 60_000

/** Most bytes of a chart archive. Charts beyond 1 MiB do not fit into a release record anyway, subcharts aside. */
export const DEFAULT_MAX_CHART_BYTES = 20 * 1024 * 1024

/** Most bytes of a chart archive, unpacked: Helm's own limit. */
export const DEFAULT_MAX_UNPACKED_BYTES = 100 * 1024 * 1024

/** Most files in a chart. */
export const DEFAULT_MAX_CHART_FILES = 10_000

/** Most bytes of a repository's index. */
export const DEFAULT_MAX_INDEX_BYTES = 8 * 1024 * 1024

/** Size of the chart cache on disk. */
export const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024

/** How long a resolved chart is used without asking its source again: many releases share one request. */
export const DEFAULT_FRESH_MS = 30_000
