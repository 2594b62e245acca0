/** The parts that every operator needs: a cache, an event recorder and a manager. */
import type { Clock } from '@reeve/http'
import type { KubeClient } from '@reeve/kube'
import { Cache, type CacheOptions } from '../cache/cache.ts'
import { describeFailure } from '../cache/informer-health.ts'
import type { ControllerEnvironment } from '../controller/controller-options.ts'
import { ApiEventRecorder, type EventRecorder } from '../events/event-recorder.ts'
import type { Logger } from '../logging/logger.ts'
import { createManager, type Manager, type ManagerOptions } from '../manager/manager.ts'
import type { MetricsRegistry } from '../metrics/registry.ts'
import type { OperatorObserver } from './operator-observer.ts'
import type { WebhookLocation } from './webhook-manifests.ts'

/** How an operator upgrades its own CRDs. */
export interface CrdUpgradeSettings {
  /** The version of the operator, such as `1.4.0`: what a newer one has written is left alone. */
  readonly version: string
  /** Where its webhooks are. Required when it converts a CRD. */
  readonly location?: WebhookLocation | undefined
}

/** Options that all operators have. */
export interface OperatorFrameOptions
  extends Pick<ManagerOptions, 'leaderElection' | 'sharding' | 'healthAddress' | 'metricsAddress'> {
  readonly client: KubeClient
  /** Who reports events: the pod's name. */
  readonly instance?: string
  readonly metrics?: MetricsRegistry
  readonly logger?: Logger
  readonly clock?: Clock
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: () => number
  /** How the cache reads the cluster. */
  readonly cache?: Pick<CacheOptions, 'pageSize' | 'silenceMs'>
  /** Upgrades the CRDs of the operator when it starts. @default they stay as they are */
  readonly upgradeCrds?: CrdUpgradeSettings | undefined
  /** Observes the operator, for a console. @default nobody does, which costs nothing */
  readonly observer?: OperatorObserver | undefined
}

/** The dependencies of all parts of an operator. */
export type SharedParts = Pick<OperatorFrameOptions, 'clock' | 'logger' | 'metrics' | 'random'>

/** An operator without controllers and webhooks. */
export interface OperatorFrame {
  readonly manager: Manager<Cache>
  readonly cache: Cache
  /** For other parts of the operator. */
  readonly shared: SharedParts
  /** The dependencies of its controllers. */
  readonly environment: ControllerEnvironment
}

/**
 * Creates the parts: events are recorded by the manager, and an operator that is cut off from the API server is not
 * ready, unless it converts objects: `/readyz/cache` still shows it then.
 *
 * @param component the field manager and the source of events, such as `webapp-operator`
 *
 * @example
 * const { manager, environment } = operatorFrame('webapp-operator', options)
 * manager.add(new Controller({ name: 'webapp', for: WebApps, reconcile }, environment))
 */
export function operatorFrame(component: string, options: OperatorFrameOptions): OperatorFrame {
  const { client, clock, logger, metrics, random, healthAddress, metricsAddress, observer } = options
  const { leaderElection, sharding } = options
  const shared = {
    ...(clock && { clock }),
    ...(logger && { logger }),
    ...(metrics && { metrics }),
    ...(random && { random }),
  }
  const cache = new Cache(client, {
    ...shared,
    fieldManager: component,
    ...options.cache,
  })
  const manager = createManager<Cache>({
    client,
    cache,
    ...shared,
    ...(leaderElection && { leaderElection }),
    ...(sharding && { sharding }),
    ...(healthAddress && { healthAddress }),
    ...(metricsAddress && { metricsAddress }),
  })
  // Not fenced: the last events of a leader are sent after it has given the lease back.
  const events = new ApiEventRecorder(client, {
    ...shared,
    component,
    busy: manager.leadership,
    ...(options.instance !== undefined && { instance: options.instance }),
  })
  manager.add(events)
  const checkCache = () => {
    const { unhealthy } = cache.health()
    if (unhealthy.length > 0) throw new Error(unhealthy.map(describeFailure).join('; '))
  }
  // A pod that converts must stay in its Service for its own cache to recover.
  manager.readiness.add('cache', checkCache, { isRequired: () => !manager.isNeededByCaches })
  const observed = observer && {
    describeWrite: observer.describeWrite,
    events: {
      record: (...event: Parameters<EventRecorder['record']>) => {
        observer.recorded(...event)
        events.record(...event)
      },
    },
  }
  const { shards } = manager
  const environment = { cache, client: manager.client, events, ...shared, ...(shards && { shards }), ...observed }
  return { manager, cache, shared, environment }
}
