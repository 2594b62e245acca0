/** Every default of the manager and what it runs, in one place. */

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Leader election. A standby waits the lease duration; the leader stops writing a third of it earlier. */
export const ELECTION_DEFAULTS = Object.freeze({
  leaseDurationMs: 15 * SECOND_MS,
  renewDeadlineMs: 10 * SECOND_MS,
  retryPeriodMs: 2 * SECOND_MS,
  /** Waits are extended by up to this fraction, so that candidates do not compete in step. */
  jitter: 0.2,
  /** How long releasing the lease may take at shutdown. */
  releaseTimeoutMs: 3 * SECOND_MS,
})

/** Sharding. Its leases have the times of leader election. */
export const SHARDING_DEFAULTS = Object.freeze({
  /** A replica that has not renewed its lease for this many durations is forgotten, and its lease is deleted. */
  forgottenAfterDurations: 20,
  /** How long reconciles may take to end when a shard is given to another replica. */
  handOverTimeoutMs: 30 * SECOND_MS,
  /** A lease for each of them is renewed all the time. */
  maxShards: 256,
})

/** Informers and the cache that holds them. */
export const CACHE_DEFAULTS = Object.freeze({
  /** Each informer holds a connection. */
  maxInformers: 200,
  /** Objects per page of a list. */
  pageSize: 500,
  /**
   * A watch without any event or bookmark for this long is dead. Bookmarks come every minute, so less than 70 s would tear
   * down healthy watches; much more would leave a dead one unnoticed.
   */
  silenceMs: 75 * SECOND_MS,
  /** Deadline of one page. */
  listTimeoutMs: 60 * SECOND_MS,
  /** Streaming counts as unavailable when nothing arrives for this long, */
  streamSilenceMs: 10 * SECOND_MS,
  /** or when the initial state takes longer than this. */
  streamTimeoutMs: 2 * MINUTE_MS,
  /** The server ends a watch after a random time between these: before a load balancer does. */
  minWatchSeconds: 180,
  maxWatchSeconds: 239,
  /** First delay after a failure, doubling. */
  backoffBaseMs: 500,
  backoffMaxMs: 30 * SECOND_MS,
  /** Maximum jitter, as a fraction of the delay: a thousand clients spread over twice the time. */
  backoffJitter: 1,
  /** A watch that ends sooner than this without an event counts as failed. */
  minWatchMs: 1 * SECOND_MS,
  /** How many lists in a row may be older than the cache before one is accepted. */
  maxStaleLists: 3,
  /** How many times in a row a kind with objects must be missing before it counts as empty. */
  maxMissingLists: 3,
  /** How often a kind that is not served is asked for. */
  missingRetryMs: 10 * SECOND_MS,
  /** An informer that fails for longer than this is unhealthy. */
  unhealthyAfterMs: 30 * SECOND_MS,
})

/** The manager. */
export const MANAGER_DEFAULTS = Object.freeze({
  /** Below the 30 s after which the kubelet kills a pod, with room for the process to end. */
  shutdownGraceMs: 25 * SECOND_MS,
  /** Kept back from the grace for giving the lease back and closing servers. */
  shutdownReserveMs: 5 * SECOND_MS,
  /** How long each phase of the start may take, filling the caches above all. */
  startTimeoutMs: 2 * MINUTE_MS,
})

/** Of protected metrics. */
export const METRICS_DEFAULTS = Object.freeze({
  /** How long an allowed scraper is not checked again; a deleted account loses access after this. */
  allowedForMs: 60_000,
  deniedForMs: 10_000,
  rememberedDecisions: 1_000,
  reviewTimeoutMs: 5_000,
  maxTokenLength: 16_384,
  certificateValidityMs: 5 * 365 * 86_400_000,
})

/** The server for `/healthz`, `/readyz` and `/metrics`. */
export const HEALTH_DEFAULTS = Object.freeze({
  host: '0.0.0.0',
  healthPort: 8081,
  /** A check that takes longer counts as failed: just below the second that the kubelet waits by default. */
  checkTimeoutMs: 900,
  /** From the first byte to the end of the headers. */
  requestTimeoutMs: 5 * SECOND_MS,
  keepAliveTimeoutMs: 15 * SECOND_MS,
  maxConnections: 100,
})

/** The events recorder. */
export const EVENT_DEFAULTS = Object.freeze({
  /** Events waiting to be sent; the newest are dropped beyond it. */
  queueCapacity: 4_096,
  /** Objects, and series of equal events, remembered for counting. */
  memoryCapacity: 4_096,
  /** More different messages than this about one object within the window become one combined event. */
  aggregateAfter: 10,
  aggregateWindowMs: 10 * MINUTE_MS,
  /** Per object: this many in a burst, then one per interval. */
  burst: 25,
  refillIntervalMs: 5 * MINUTE_MS,
  /** One attempt to send. */
  requestTimeoutMs: 10 * SECOND_MS,
  attempts: 4,
  retryDelayMs: 2 * SECOND_MS,
  /** How long remaining events may be sent after the stop signal. */
  flushTimeoutMs: 3 * SECOND_MS,
  /** How many of them at a time. */
  flushConcurrency: 10,
  /** How long an event lets more important requests go first. */
  yieldMs: 200,
})

/** The webhook server. */
export const WEBHOOK_DEFAULTS = Object.freeze({
  host: '0.0.0.0',
  port: 9443,
  /** An object may have 1.5 MiB in etcd; a review carries the old and the new one, and JSON is larger. */
  maxBodyBytes: 7 * 1024 * 1024,
  /** Hundreds of usual reviews concurrently, or four of the largest. */
  maxBufferedBytes: 32 * 1024 * 1024,
  /** Below the API server's own default of 10 s, so that the response arrives in time. */
  handlerTimeoutMs: 9 * SECOND_MS,
  /** From the first byte to the end of the body. */
  requestTimeoutMs: 10 * SECOND_MS,
  headersTimeoutMs: 5 * SECOND_MS,
  /**
   * Above the 90 s after which the API server closes an idle connection: were we the first, a request could meet a
   * connection that is just being closed.
   */
  keepAliveTimeoutMs: 120 * SECOND_MS,
  maxConcurrent: 100,
  maxConnections: 1_000,
  /** After the stop signal: how long requests in progress may take. */
  drainTimeoutMs: 10 * SECOND_MS,
})

/** Self-issued certificates. */
export const CERTIFICATE_DEFAULTS = Object.freeze({
  authorityValidityMs: 365 * DAY_MS,
  servingValidityMs: 90 * DAY_MS,
  /** Renewed when less than this share of the validity is left. */
  renewBefore: 1 / 3,
  /** Certificates start a little in the past, for peers whose clock is behind. */
  backdateMs: 1 * HOUR_MS,
  /** How often each replica checks the Secret and the targets that have to trust it. */
  checkIntervalMs: 1 * MINUTE_MS,
  /** How long old and new authority are trusted side by side at each step; well above the check interval. */
  overlapMs: 30 * MINUTE_MS,
  /** How often mounted certificate files are read. */
  fileIntervalMs: 10 * SECOND_MS,
})
