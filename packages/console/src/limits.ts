/** How much a console keeps and serves. Everything is bounded: it must never endanger the operator it shows. */
export const CONSOLE_LIMITS = Object.freeze({
  /** Reconciles that are kept in all. */
  reconciles: 5_000,
  /** Reconciles that are kept of one resource. */
  reconcilesPerResource: 50,
  /** Size of all that are kept, as JSON. */
  journalBytes: 16 * 1024 * 1024,
  /** Resources whose last reconcile and conditions are remembered. */
  resources: 20_000,
  /** Changes of conditions that are kept of one resource. */
  conditionChanges: 40,
  changesPerWrite: 60,
  /** Characters of one value. */
  valueLength: 400,
  /** Between two samples of the process. */
  sampleMs: 2_000,
  /** Samples that are kept: 15 minutes. */
  samples: 450,
  connections: 64,
  streams: 16,
  sessions: 32,
  /** After this time without a request a session ends. */
  sessionIdleMs: 8 * 3_600_000,
  /** How often the session of an open stream is checked again. */
  sessionCheckMs: 15_000,
  /** Size of a request. */
  bodyBytes: 256 * 1024,
  requestTimeoutMs: 15_000,
  planTimeoutMs: 60_000,
  /** Messages to a browser are collected for this time. */
  streamFlushMs: 150,
  /** Messages that wait for one browser; it loads everything again when there are more. */
  streamBacklog: 2_000,
  /** Events of a resource. */
  events: 30,
  /** Resources whose events are kept. */
  resourcesWithEvents: 2_000,
})
