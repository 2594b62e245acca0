/** Every default of this package, in one place. */

/** Name of the node. */
export const NODE_NAME = 'node-1'

/** Address of the node, on an interface that exists only in the sandbox. */
export const NODE_IP = '10.88.0.1'

/** Addresses of pods. */
export const POD_RANGE = '10.244.0.0/24'

/** Reference of the image that holds the namespaces of a pod. */
export const PAUSE_IMAGE = 'reeve.test/pause:1'

/** Reference of an image with a shell and the usual commands, for test pods. */
export const SHELL_IMAGE = 'reeve.test/shell:1'

/** How long the node may take to become ready. A loaded two-core machine needs about 20 s. */
export const NODE_READY_TIMEOUT_MS = 300_000

/** How often a condition is checked. */
export const POLL_INTERVAL_MS = 250

/** How long removing cgroups is retried: the kernel releases those of killed processes asynchronously. */
export const CGROUP_REMOVAL_TIMEOUT_MS = 10_000
