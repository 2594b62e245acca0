/** Creates a client. */

import { type Clock, systemClock, type Transport, UndiciTransport } from '@reeve/http'
import type { KubeClient } from './client.ts'
import type { ClusterConfig } from './config/cluster-config.ts'
import { paysToCompress } from './content-encoding.ts'
import {
  DEFAULT_DISCOVERY_INTERVAL_MS,
  DEFAULT_FIELD_MANAGER,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_MAX_WATCH_LINE_BYTES,
  DEFAULT_USER_AGENT,
} from './defaults.ts'
import { type Discovery, DiscoveryCache } from './discovery.ts'
import { HttpClient } from './http-client.ts'
import type { Impersonation } from './impersonation.ts'
import { ClientObserver, type ObserverOptions } from './observer.ts'
import type { PodStreams } from './pod-streams.ts'
import { Reachability } from './reachability.ts'
import { RequestExecutor } from './request-executor.ts'
import { type RetryOptions, retryLimits } from './retry-policy.ts'

/** Options of {@link createClient} that do not depend on the server. */
export interface ClientOptions extends ObserverOptions {
  /** The user agent, as shown in the server's audit log. @default 'reeve-kube/<version>' */
  readonly userAgent?: string
  /** Manager of the fields that this client writes. @default 'reeve' */
  readonly fieldManager?: string
  /** Impersonate another identity. @default the one in the kubeconfig, if any */
  readonly impersonate?: Impersonation
  /** @default the system clock */
  readonly clock?: Clock
  /** Numbers in [0, 1) for the jitter of retries. @default Math.random */
  readonly random?: () => number
  /** @default 4 retries between 250 ms and 5 s */
  readonly retries?: RetryOptions
  /**
   * Whether lists are requested with gzip, which a server uses above 128 KiB. Saves nine tenths of the bytes and costs time on
   * both sides, so that it pays on a network below about 1 Gbit/s. @default true, but not for loopback addresses, inside a
   * cluster, with `disable-compression` in the kubeconfig, or with a transport of your own
   */
  readonly compressLists?: boolean
  /** Larger responses fail instead of exhausting the memory. @default 256 MiB */
  readonly maxResponseBytes?: number
  /** The same for one watch event. @default 16 MiB */
  readonly maxWatchLineBytes?: number
}

/** The server: a custom transport, or a configuration for the built-in one. */
export type ClientTarget = { readonly transport: Transport } | { readonly config: ClusterConfig }

/** A client with its discovery and the streams of pods. */
export interface DiscoveringClient extends KubeClient, PodStreams {
  readonly discovery: Discovery
}

/**
 * A client for one API server. Closing it closes its transport.
 *
 * @example
 * const client = createClient({ config: await loadConfig(), fieldManager: 'webapp-operator' })
 * const deployment = await client.apply(Deployments, desired, { force: true })
 * await client.close()
 */
export function createClient(options: ClientTarget & ClientOptions): DiscoveringClient {
  const { clock = systemClock } = options
  const transport = 'transport' in options ? options.transport : new UndiciTransport(options.config)
  const identity = options.impersonate ?? ('config' in options ? options.config.impersonate : undefined)
  const reachability = 'config' in options ? reachabilityOf(options.config.server, { ...options, clock }) : undefined
  const executor = new RequestExecutor({
    transport,
    clock,
    random: options.random ?? Math.random,
    limits: retryLimits(options.retries ?? {}),
    observer: new ClientObserver(options),
    ...(reachability && { reachability }),
    maxResponseBytes: options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES,
    headers: { 'user-agent': options.userAgent ?? DEFAULT_USER_AGENT },
    ...(identity && { impersonate: identity }),
  })
  return new HttpClient({
    executor,
    fieldManager: options.fieldManager ?? DEFAULT_FIELD_MANAGER,
    maxWatchLineBytes: options.maxWatchLineBytes ?? DEFAULT_MAX_WATCH_LINE_BYTES,
    discovery: new DiscoveryCache({ executor, clock, minIntervalMs: DEFAULT_DISCOVERY_INTERVAL_MS }),
    clock,
    compressLists: options.compressLists ?? ('config' in options && paysToCompress(options.config)),
    close: () => {
      // Requests that this aborts say nothing about the server.
      reachability?.stopReporting()
      return transport.close()
    },
  })
}

function reachabilityOf(server: string, { clock, logger }: ClientOptions & { readonly clock: Clock }): Reachability {
  // The origin has no password.
  return new Reachability({ server: new URL(server).origin, clock, ...(logger && { logger }) })
}
