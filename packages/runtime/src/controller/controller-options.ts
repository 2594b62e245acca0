/** Options of controllers. */
import type { Clock } from '@reeve/http'
import type { KubeClient, KubeObject, Resource } from '@reeve/kube'
import type { Cache } from '../cache/cache.ts'
import type { DescribeWrite } from '../client/reconcile-client.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Logger } from '../logging/logger.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { BackoffOptions } from '../queue/backoff.ts'
import type { TokenBucketOptions } from '../queue/token-bucket.ts'
import type { ShardOwnership } from '../sharding/shard-elector.ts'
import { ControllerConfigError } from './controller-error.ts'
import type { ReconcileRecord } from './reconcile-record.ts'
import type { Reconcile } from './reconcile-request.ts'
import type { MappedSource, Source } from './sources.ts'

/** Options of a controller. */
export interface ControllerOptions<T extends KubeObject> {
  /** Names it in logs, metrics and health; unique in the process. */
  readonly name: string
  /** The resource that it reconciles. */
  readonly for: Resource<T> | Source<T>
  /** Resources whose objects carry an owner reference to the primary: a change of one reconciles its owner. */
  readonly owns?: readonly (Resource | Source<KubeObject>)[]
  /** Other resources, with a mapper that says which primary objects a change concerns: see {@link watch}. */
  readonly watches?: readonly MappedSource<KubeObject>[]
  /** Resources that are only read: cached, but their changes cause nothing. */
  readonly reads?: readonly (Resource | Source<KubeObject>)[]
  /**
   * Watch only these namespaces, with one informer each: for operators that may not read the whole cluster. Sources
   * that name a namespace keep it, cluster-scoped resources are watched as a whole. @default all namespaces
   */
  readonly namespaces?: readonly string[] | undefined
  readonly reconcile: Reconcile<T>
  /** What `reconcile` is a part of, if that has demands on its controller. @default nothing has */
  readonly engine?: Engine | undefined
  /** The source of its events. @default that of the recorder */
  readonly eventSource?: string | undefined
  /** How many objects are reconciled concurrently; one object never by two workers. @default 1 */
  readonly concurrency?: number | undefined
  /** After this the signal of a reconcile aborts, and it is retried. @default 120_000 */
  readonly timeoutMs?: number | undefined
  /**
   * Every object is reconciled again after about this time (± 10 %), with low priority.
   * `Infinity` switches it off. @default 36_000_000, ten hours
   */
  readonly resyncMs?: number | undefined
  /** Runs in one process at a time. @default true */
  readonly needsLeadership?: boolean
  /** Delays after failures. @default 1 s, doubling up to 5 min, plus up to 10 % */
  readonly backoff?: BackoffOptions | undefined
  /** Limit of retries over all objects. @default 10 per second, bursts of 100 */
  readonly retryRate?: TokenBucketOptions | undefined
  /** Called with every reconcile after its end; for traces and a console. An exception is logged. */
  readonly onReconcile?: ((record: ReconcileRecord) => void) | undefined
  /**
   * Records a Warning event on an object whose reconcile fails, once per failure and not once per retry. Switch it off
   * where the reconcile function records its own. @default true
   */
  readonly failureEvents?: boolean | undefined
}

/** Where a controller takes its objects from. */
export type Sources<T extends KubeObject> = Pick<ControllerOptions<T>, 'name' | 'for' | 'owns' | 'watches' | 'reads'>

/** What reconciles, and has demands on the controller that runs it. */
export interface Engine {
  /** Its name in managedFields. */
  readonly fieldManager: string
  /** *Errors*: `ControllerConfigError` when the controller does not cache what the engine works on. */
  requireSources<T extends KubeObject>(sources: Sources<T>): void
  /** Forgets what it remembers of objects, because another replica may have worked on them. */
  forget(isGone: (key: string) => boolean): void
}

/** The dependencies of a controller. The parts of a manager can be passed unchanged. */
export interface ControllerEnvironment {
  readonly cache: Cache
  /** A client that writes only with leadership, such as `manager.client`. The controller lays its writes over `cache`. */
  readonly client: KubeClient
  readonly clock?: Clock
  /** Source of jitter, in [0, 1). @default Math.random */
  readonly random?: () => number
  readonly logger?: Logger
  readonly metrics?: Metrics
  /**
   * The shards of this replica: only their objects are reconciled, instead of all by the leader. Ignored by a controller that
   * does not need leadership. @default all objects
   */
  readonly shards?: ShardOwnership
  /** @default discards events */
  readonly events?: EventRecorder
  /** Describes what writes change, for the records of reconciles. @default changes are not recorded */
  readonly describeWrite?: DescribeWrite
}

/** Defaults of {@link ControllerOptions}. */
export const CONTROLLER_DEFAULTS = Object.freeze({
  concurrency: 1,
  timeoutMs: 120_000,
  resyncMs: 36_000_000,
})

/** How long a reconcile may continue after its signal aborted, before it is abandoned. */
export const GRACE_MS = 10_000

/** How long the caches may take to sync at the start. */
export const SYNC_TIMEOUT_MS = 120_000

/** Share by which resyncs are earlier or later, so that many controllers do not resync together. */
export const RESYNC_JITTER = 0.1

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * *Errors*: {@link ControllerConfigError} for the first invalid value.
 */
export function checkOptions(options: {
  readonly name: string
  readonly concurrency: number
  readonly timeoutMs: number
  readonly resyncMs: number
  readonly namespaces?: readonly string[] | undefined
}): void {
  const { name, concurrency, timeoutMs, resyncMs, namespaces } = options
  if (name === '') throw new ControllerConfigError('', 'name', "''", 'a name')
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new ControllerConfigError(name, 'concurrency', concurrency, 'a whole number above 0')
  }
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new ControllerConfigError(name, 'timeoutMs', timeoutMs, `between 0 and ${MAX_TIMER_MS} milliseconds`)
  }
  if (resyncMs !== Number.POSITIVE_INFINITY && !(resyncMs > 0 && resyncMs < MAX_TIMER_MS / 2)) {
    throw new ControllerConfigError(name, 'resyncMs', resyncMs, 'above 0 and below twelve days, or Infinity')
  }
  if (namespaces?.length === 0) {
    throw new ControllerConfigError(name, 'namespaces', '[]', 'at least one namespace, or absent for all of them')
  }
}
