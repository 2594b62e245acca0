/** Every default of the exploration, with its unit in its name. Times are virtual unless they say otherwise. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export const EXPLORATION_DEFAULTS = Object.freeze({
  /** The undisturbed run counts as settled when nothing was written for this long. */
  quietMs: 30 * SECOND_MS,
  /** A disturbed run is compared this often, and must agree twice in a row. */
  lookMs: 5 * SECOND_MS,
  /** Longest time that an operator may take to recover: twice its longest back-off. */
  patienceMs: 20 * MINUTE_MS,
  /** How long nothing may be written after a disturbed run. */
  restMs: 10 * MINUTE_MS,
  /** The same with a lease, which is renewed every other second all the time. */
  electedRestMs: 2 * MINUTE_MS,
  /** How long nothing may be written in `quiescence`. */
  longRestMs: 10 * HOUR_MS,
  /** A killed process is started again after this, as a kubelet does at first. */
  restartMs: 1 * SECOND_MS,
  /** An operator that exits more often than this in one run has failed. */
  maxRestarts: 10,
  /** How long a stop may take: below the 30 s after which a kubelet kills. */
  stopMs: 30 * SECOND_MS,
  /** When a silent connection of a process breaks: it is given no time to notice by itself, which may take minutes. */
  brokenAfterMs: 20 * SECOND_MS,
  /** How long a request takes to reach the server. */
  latencyMs: 1,
  /** An operator that sends more requests than this within a minute loops without ever waiting. */
  maxRequestsPerMinute: 2_000,
  /** Ten hours with a lease are some forty thousand requests. */
  maxRequests: 200_000,
  /** Real time after which a run is aborted, also on a busy machine. */
  maxRealMs: 5 * MINUTE_MS,
  /** Real time after which a thread that does not respond is replaced: not even a request ends its loop. */
  maxSilenceRealMs: 10 * MINUTE_MS,
  /** Memory of one thread; a run needs a tenth of it. */
  maxHeapMegabytes: 448,
  /** Real time of a quick exploration of one operator. */
  quickSeconds: 60,
  /** Points tried for each pattern that is sampled. */
  samples: 24,
  /** Shorter or simpler walks that are tried when one fails. */
  maxShrinkRuns: 40,
  /** Pairs of faults tried. */
  pairs: 100,
  seed: 1,
})
