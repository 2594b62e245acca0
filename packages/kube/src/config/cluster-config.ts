/** The configuration of the connection to one API server. */
import type { ServerConfig } from '@reeve/http'
import type { Impersonation } from '../impersonation.ts'

/**
 * One API server, and the credentials for it.
 *
 * @example
 * const config: ClusterConfig = { server: 'https://127.0.0.1:6443', source: 'test', namespace: 'default', trust: {} }
 */
export interface ClusterConfig extends ServerConfig {
  /** The source of this configuration, for messages. */
  readonly source: string
  /** Namespace of the context, or of the pod of this process. */
  readonly namespace: string
  readonly impersonate?: Impersonation
  /** Whether responses should not be compressed: the network is faster than compression. @default false */
  readonly disableCompression?: boolean
}
