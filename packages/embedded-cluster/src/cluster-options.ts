/** How a cluster is started. */
import type { CallWebhook, ResolveService } from './admission/webhook-client.ts'
import type { UserInfo } from './auth/user.ts'
import type { Clock } from './clock.ts'
import type { ControllersOptions } from './controllers/index.ts'
import type { PodLogs } from './rest/server-context.ts'

/** Options of `startEmbeddedCluster`. */
export interface EmbeddedClusterOptions {
  /**
   * Whether to listen on a socket with TLS. Without, only `handle` and `api` work, no key is made and a start takes
   * milliseconds.
   * @default true
   */
  readonly listen?: boolean
  /** Port to listen on; 0 takes a free one. @default 0 */
  readonly port?: number
  /** Address to listen on. @default '127.0.0.1' */
  readonly host?: string
  /** Names and addresses the server certificate is for, besides `host` and `localhost`. @default [] */
  readonly hostnames?: readonly string[]
  /** Time for everything in the cluster. @default the clock of the machine */
  readonly clock?: Clock
  /** Numbers from 0 (inclusive) to 1 (exclusive) for names, uids and jitter. @default the machine's secure source */
  readonly random?: () => number
  /** Who may do what. @default 'AlwaysAllow' */
  readonly authorization?: 'AlwaysAllow' | 'RBAC'
  /** Fixed bearer tokens and whom they stand for. @default none */
  readonly tokens?: ReadonlyMap<string, UserInfo>
  /**
   * The controllers beside the API server: garbage collection, namespaces, service accounts and the workload simulator.
   * `false` leaves them out, as with an API server alone. An object sets their pace.
   * @default true
   */
  readonly controllers?: boolean | Omit<ControllersOptions, 'clock' | 'random' | 'nodes' | 'rootCertificate'>
  /** Simulated nodes: how many, or which. @default 3 */
  readonly nodes?: ControllersOptions['nodes']
  /** Finds where a webhook's Service listens in this process or on this machine. @default no service resolves */
  readonly resolveService?: ResolveService
  /** Answers webhook calls in process. @default everything goes over the network */
  readonly callWebhook?: CallWebhook
  /** Where logs of containers come from. @default what the pod's annotations say */
  readonly podLogs?: PodLogs
  /** Keeps the cluster's state in this directory across restarts. @default memory only */
  readonly dataDir?: string
  /** Changes remembered for watches that resume. @default 10_000 events, 5 minutes */
  readonly eventWindow?: { readonly maxEvents?: number; readonly maxAgeMs?: number }
  /** Undelivered events above which a slow watch is cut. @default 10_000 */
  readonly maxBufferedEvents?: number
  /** Told about failures inside the cluster that are tried again. @default nobody */
  readonly onError?: (error: unknown, where: string) => void
}
