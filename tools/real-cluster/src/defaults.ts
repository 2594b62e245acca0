/** Every default of this package, in one place. */

/** How long a started control plane may take until it is ready. A loaded two-core machine needs about 10 s. */
export const START_TIMEOUT_MS = 90_000

/** How often readiness is polled while the control plane starts. */
export const READY_POLL_INTERVAL_MS = 50

/** How often a start is retried when another process took a port between choosing and binding it. */
export const START_ATTEMPTS = 3

/** Address range of Services. */
export const SERVICE_CLUSTER_IP_RANGE = '10.0.0.0/24'

/** First address of {@link SERVICE_CLUSTER_IP_RANGE}: the server assigns it to the Service `kubernetes`. */
export const KUBERNETES_SERVICE_IP = '10.0.0.1'

/** Validity of every certificate: longer than a test run, short enough to be worthless when leaked. */
export const CERTIFICATE_VALIDITY_MS = 7 * 24 * 3_600_000

/** How often a process that builds binaries refreshes its lock. */
export const BUILD_HEARTBEAT_MS = 2_000

/** Age after which another process takes over a lock that is not refreshed. */
export const BUILD_LOCK_STALE_MS = 30_000
