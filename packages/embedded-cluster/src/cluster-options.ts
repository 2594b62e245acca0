/** Options of a cluster. */
import type { CallWebhook, ResolveService } from './admission/webhook-client.ts'
import type { UserInfo } from './api/user.ts'
import type { Clock } from './clock.ts'
import type { ControllersOptions } from './controllers/index.ts'
import type { ResolvePodPort } from './controllers/pod-ports.ts'
import type { PodLogs } from './rest/server-context.ts'

/** Options of `startEmbeddedCluster`. */
export interface EmbeddedClusterOptions {
  /**
   * Whether to listen on a socket with TLS. Otherwise only `handle` and `api` are available, no key is generated and
   * the start takes milliseconds.
   * @default true
   */
  readonly listen?: boolean
  /** Port to listen on; 0 chooses an unused one. @default 0 */
  readonly port?: number
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string
  /** Names and addresses in the server certificate, in addition to `host` and `localhost`. @default [] */
  readonly hostnames?: readonly string[]
  /** The clock of the cluster. @default the system clock */
  readonly clock?: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive) for names, uids and jitter. @default the system's secure source */
  readonly random?: () => number
  /**
   * The authorization mode. `AlwaysAllow` allows every authenticated user everything; it starts faster, which suits tests
   * without sockets.
   * @default 'RBAC'
   */
  readonly authorization?: 'AlwaysAllow' | 'RBAC'
  /**
   * Whether requests over the socket without credentials are accepted, as the user `system:anonymous`. With RBAC this user
   * can only read health and version; with `AlwaysAllow` it can do everything.
   * @default false
   */
  readonly anonymousAuth?: boolean
  /** Static bearer tokens and their users. @default none */
  readonly tokens?: ReadonlyMap<string, UserInfo>
  /**
   * The controllers next to the API server: garbage collection, namespaces, service accounts and the workload
   * simulator. `false` runs only the API server. An object configures their delays.
   * @default true
   */
  readonly controllers?: boolean | Omit<ControllersOptions, 'clock' | 'random' | 'nodes' | 'rootCertificate'>
  /** Simulated nodes: the number, or the nodes. @default 3 */
  readonly nodes?: ControllersOptions['nodes']
  /** Resolves the Service of a webhook to an address on this machine. @default no service resolves */
  readonly resolveService?: ResolveService
  /** Handles webhook calls in process. @default all calls use the network */
  readonly callWebhook?: CallWebhook
  /** The source of container logs. @default the pod's annotations */
  readonly podLogs?: PodLogs
  /** Where ports of pods are served on this machine, for port forwarding. @default the pod's annotations */
  readonly resolvePodPort?: ResolvePodPort
  /** Stores the cluster's state in this directory across restarts. @default in memory only */
  readonly dataDir?: string
  /** The history that is kept for watches that resume. @default 10_000 events, 5 minutes */
  readonly eventWindow?: { readonly maxEvents?: number; readonly maxAgeMs?: number }
  /** A slow watch with more undelivered events than this is closed. @default 10_000 */
  readonly maxBufferedEvents?: number
  /** Objects beyond this number are rejected, as by a real server whose etcd is full. @default 200_000 */
  readonly maxObjects?: number
  /** Called when users other than its owner can reach or use the cluster. @default a warning of the process */
  readonly onWarning?: (message: string) => void
  /** Called for failures inside the cluster that are retried. @default failures are not reported */
  readonly onError?: (error: unknown, where: string) => void
}
