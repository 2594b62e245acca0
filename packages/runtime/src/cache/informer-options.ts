/** Options and timing of informers. */
import type { KubeObject, Resource, Selection } from '@reeve/kube'
import { apiVersionOf } from '@reeve/kube'
import { CacheConfigError } from './cache-error.ts'
import type { Indexer } from './object-store.ts'
import type { Transform } from './transform.ts'

/** What an informer caches. Requests with equal options share one informer. */
export interface InformerOptions<T extends KubeObject = KubeObject> extends Selection {
  /**
   * Reduces objects before they are cached. Informers are shared only if this is the same function.
   * @default the cache's own, which drops managedFields
   */
  readonly transform?: Transform
  /** Cache only `metadata`; spec and status are not even sent. @default false */
  readonly metadataOnly?: boolean
  /**
   * The server may not serve the kind, such as one whose CRD is installed later: it counts as empty then, and is asked for
   * again until it is served. Otherwise a missing kind is a failure, and the informer never syncs. @default false
   */
  readonly mayBeMissing?: boolean
  /** Further indexes, by name, for {@link Informer.byIndex}. Added to a shared informer that lacks them. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
}

/** How informers get and keep their data. */
export interface InformerTiming {
  /** Objects per page of a list. @default 500 */
  readonly pageSize: number
  /** Deadline of one page. @default 60_000 */
  readonly listTimeoutMs: number
  /**
   * A watch without any event or bookmark for this long is dead. Bookmarks come every minute, so less than 70 s
   * would tear down healthy watches; much more would leave a dead one unnoticed.
   * @default 75_000
   */
  readonly silenceMs: number
  /** Streaming counts as unavailable when nothing arrives for this long. @default 10_000 */
  readonly streamSilenceMs: number
  /** Streaming counts as unavailable when the initial state takes longer than this. @default 120_000 */
  readonly streamTimeoutMs: number
  /** The server ends a watch after a random time between these: before a load balancer does. @default 180 and 239 */
  readonly minWatchSeconds: number
  readonly maxWatchSeconds: number
  /** First delay after a failure, doubling. @default 500 */
  readonly backoffBaseMs: number
  /** @default 30_000 */
  readonly backoffMaxMs: number
  /** Maximum jitter, as a fraction of the delay. @default 1: a thousand clients spread over twice the time */
  readonly backoffJitter: number
  /** A watch that ends sooner than this without an event counts as failed. @default 1_000 */
  readonly minWatchMs: number
  /** How many lists in a row may be older than the cache before one is accepted. @default 3 */
  readonly maxStaleLists: number
  /** How many times in a row a kind with objects must be missing before it counts as empty. @default 3 */
  readonly maxMissingLists: number
  /** How often a kind that is not served is asked for. @default 10_000 */
  readonly missingRetryMs: number
  /** An informer that fails for longer than this is unhealthy. @default 30_000 */
  readonly unhealthyAfterMs: number
  /** `auto` streams the initial state where the server can, `paged` never does. @default 'auto' */
  readonly initialList: 'auto' | 'paged'
}

/** Defaults of {@link InformerTiming}. */
export const INFORMER_TIMING: InformerTiming = Object.freeze({
  pageSize: 500,
  listTimeoutMs: 60_000,
  silenceMs: 75_000,
  streamSilenceMs: 10_000,
  streamTimeoutMs: 120_000,
  minWatchSeconds: 180,
  maxWatchSeconds: 239,
  backoffBaseMs: 500,
  backoffMaxMs: 30_000,
  backoffJitter: 1,
  minWatchMs: 1_000,
  maxStaleLists: 3,
  maxMissingLists: 3,
  missingRetryMs: 10_000,
  unhealthyAfterMs: 30_000,
  initialList: 'auto',
})

/** *Errors*: {@link CacheConfigError} for the first invalid value. */
export function checkTiming(timing: InformerTiming): InformerTiming {
  for (const [option, value] of Object.entries(timing)) {
    if (typeof value === 'number' && !(value >= 0 && value < 2 ** 31)) {
      throw new CacheConfigError(option, value, 'at least 0 and below 2^31 milliseconds')
    }
  }
  if (timing.minWatchSeconds > timing.maxWatchSeconds) {
    throw new CacheConfigError('minWatchSeconds', timing.minWatchSeconds, 'no more than maxWatchSeconds')
  }
  return timing
}

/** `deployments.apps`: how a resource is called in metrics, health and errors. Bounded, so usable as a metric label. */
export function resourceName(of: Pick<Resource, 'group' | 'plural'>): string {
  return of.group === '' ? of.plural : `${of.plural}.${of.group}`
}

/** The resource with its selection, for messages: `secrets in default with labels app=web`. */
export function describeSelection(of: Resource, selection: Selection): string {
  const { namespace, labelSelector, fieldSelector } = selection
  let text = resourceName(of)
  if (namespace !== undefined) text += ` in ${namespace}`
  if (labelSelector !== undefined) text += ` with labels ${labelSelector}`
  if (fieldSelector !== undefined) text += ` with fields ${fieldSelector}`
  return text
}

/** Equal for informers that can be shared. */
export function informerId(
  of: Resource,
  options: Selection & { readonly metadataOnly?: boolean; readonly mayBeMissing?: boolean },
  transformId: number,
): string {
  const { namespace = '', labelSelector = '', fieldSelector = '', metadataOnly = false, mayBeMissing = false } = options
  return JSON.stringify([
    apiVersionOf(of),
    of.plural,
    namespace,
    labelSelector,
    fieldSelector,
    metadataOnly,
    mayBeMissing,
    transformId,
  ])
}
