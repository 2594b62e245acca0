/** Every default of this package, in one place. */

/** How long a started control plane may take until it is ready. A loaded two-core machine needs about 10 s. */
export const START_TIMEOUT_MS = 90_000

/** How often readiness is asked for while the control plane starts. */
export const READY_POLL_INTERVAL_MS = 50

/** How often a start is tried again when another process took a port between choosing and binding it. */
export const START_ATTEMPTS = 3

/** Addresses handed out to Services. */
export const SERVICE_CLUSTER_IP_RANGE = '10.0.0.0/24'

/** First address of {@link SERVICE_CLUSTER_IP_RANGE}: the server gives it to the Service `kubernetes`. */
export const KUBERNETES_SERVICE_IP = '10.0.0.1'

/** Validity of every certificate: longer than a test run, short enough to be worthless when leaked. */
export const CERTIFICATE_VALIDITY_MS = 7 * 24 * 3_600_000

/** How often a process that builds binaries says that it is alive. */
export const BUILD_HEARTBEAT_MS = 2_000

/** Silence after which another process takes a build over. */
export const BUILD_LOCK_STALE_MS = 30_000
