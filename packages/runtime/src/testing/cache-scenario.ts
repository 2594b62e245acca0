/** Set-up shared by the tests of the cache: a fake cluster, a simulated clock and a recorder of what handlers hear. */

import { SimulatedClock } from '@reeve/http/testing'
import type { KubeObject, Stored } from '@reeve/kube'
import { Cache, type CacheOptions } from '../cache/cache.ts'
import type { InformerHandler } from '../cache/informer-handlers.ts'
import { FakeCluster, type FakeClusterOptions } from './fake-cluster.ts'

/** What a handler heard, one line per call: `added a`, `updated a 1→2`, `deleted a (unseen)`. */
export function recorder<T extends KubeObject & { readonly spec?: { readonly size?: number } }>(): {
  readonly heard: string[]
  readonly handler: InformerHandler<T>
} {
  const heard: string[] = []
  const size = (object: Stored<T>) => object.spec?.size
  return {
    heard,
    handler: {
      added: (object, isInitial) => heard.push(`added ${object.metadata.name}${isInitial ? ' (initial)' : ''}`),
      modified: (previous, object) => heard.push(`modified ${object.metadata.name} ${size(previous)}→${size(object)}`),
      deleted: (object, isUnseen) => heard.push(`deleted ${object.metadata.name}${isUnseen ? ' (unseen)' : ''}`),
      synced: () => heard.push('synced'),
    },
  }
}

/** A cache on a fake cluster; `stop` ends it and resolves when nothing is running. */
export function cacheScenario(
  options: Omit<FakeClusterOptions, 'clock'> & { readonly cache?: CacheOptions } = {},
): CacheScenario {
  const clock = new SimulatedClock({ startMs: Date.UTC(2030, 0, 1) })
  const cluster = new FakeCluster({ ...options, clock })
  const cache = new Cache(cluster.client, { clock, random: () => 0.5, ...options.cache })
  const controller = new AbortController()
  let running: Promise<void> | undefined
  return {
    clock,
    cluster,
    cache,
    start: async () => {
      running = cache.run(controller.signal)
      await clock.runUntil(() => cache.isSynced, { maxMs: 60_000 })
    },
    run: () => {
      running = cache.run(controller.signal)
    },
    stop: async () => {
      controller.abort()
      await running
    },
  }
}

/** See {@link cacheScenario}. */
export interface CacheScenario {
  readonly clock: SimulatedClock
  readonly cluster: FakeCluster
  readonly cache: Cache
  /** Runs the cache and waits until it is synced. */
  start(): Promise<void>
  /** Runs the cache without waiting. */
  run(): void
  stop(): Promise<void>
}
