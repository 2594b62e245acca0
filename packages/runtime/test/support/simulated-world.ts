/** An embedded cluster, a client and a cache in one process and on one simulated clock. */

import { type EmbeddedCluster, type EmbeddedClusterOptions, startEmbeddedCluster } from '@reeve/embedded-cluster'
import { SimulatedClock } from '@reeve/http/testing'
import { type ConfigMap, createClient, type KubeClient } from '@reeve/kube'
import { Cache, type CacheOptions } from '@reeve/runtime/cache'
import { trackWrites } from '../../src/client/own-writes.ts'
import { seededRandom } from '../../src/testing/index.ts'
import { withoutStreaming } from './without-streaming.ts'

/** See {@link simulatedWorld}. */
export interface SimulatedWorld {
  readonly clock: SimulatedClock
  readonly cluster: EmbeddedCluster
  /** The client of everything but the operator. */
  readonly client: KubeClient
  readonly cache: Cache
  /** The client whose writes the cache tracks. */
  readonly own: KubeClient
  /** Runs the cache and waits until it is synced. */
  start(): Promise<void>
  /** Drives time while `action` runs, for what waits on the server's clock. */
  during<R>(action: Promise<R>): Promise<R>
  stop(): Promise<void>
}

/** Starts a cluster without sockets; the cache runs once `start` is called. */
export async function simulatedWorld(
  options: {
    readonly cluster?: EmbeddedClusterOptions
    readonly cache?: CacheOptions
    readonly seed?: number
    /** Whether the cache may stream its initial state. @default true */
    readonly streams?: boolean
  } = {},
): Promise<SimulatedWorld> {
  const clock = new SimulatedClock()
  const random = seededRandom(options.seed ?? 1)
  const cluster = await startEmbeddedCluster({
    listen: false,
    authorization: 'AlwaysAllow',
    controllers: false,
    clock,
    random,
    ...options.cluster,
  })
  const client = createClient({ transport: cluster.transport, clock, random })
  const cache = new Cache(options.streams === false ? withoutStreaming(client) : client, {
    clock,
    random,
    ...options.cache,
  })
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  return {
    clock,
    cluster,
    client,
    cache,
    own: trackWrites(client, cache),
    start: async () => {
      running = cache.run(stopping.signal)
      await clock.runUntil(() => cache.isSynced, { maxMs: 60_000 })
    },
    during: (action) => clock.runToCompletion(action),
    stop: async () => {
      stopping.abort()
      await running
      await cluster.stop()
    },
  }
}

/** A ConfigMap in the namespace `default` whose content is one value. */
export function configMap(name: string, value: string, metadata: ConfigMap['metadata'] = {}): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'default', name, ...metadata },
    data: { value },
  }
}
