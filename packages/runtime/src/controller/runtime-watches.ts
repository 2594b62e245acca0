/** Watches that an operator starts and stops while it runs, such as for a kind that one of its resources names. */
import { untilAborted } from '@reeve/http'
import type { KubeObject } from '@reeve/kube'
import { describeSelection } from '../cache/informer-options.ts'
import type { Logger } from '../logging/logger.ts'
import type { MappedSource } from './sources.ts'
import type { BorrowedSource, WatchedSources } from './watched-sources.ts'

/** A watch that was started while the controller runs. */
export interface RuntimeWatch {
  readonly name: string
  /** What exists is in the cache: the kind can be read, and every later change is a reconcile. */
  readonly isSynced: boolean
  /** False while the server does not serve the kind. It is asked every ten seconds. */
  readonly isServed: boolean
  /** Resolves when it is synced. A kind that is not served is synced, and empty. Rejects when it is stopped before. */
  whenSynced(signal: AbortSignal): Promise<void>
}

/**
 * The watches of a controller that come and go.
 *
 * *Guarantees*: informers are shared with every other part of the operator and end with the last one that uses them; each
 * object that exists and each later change is a reconcile of what `map` returns; after {@link RuntimeWatches.stop} no
 * event is. A watch that cannot sync, for want of rights, fails no other one and leaves the operator ready.
 *
 * *Caveats*: nothing remembers watches but the process, so a reconcile starts those that it needs each time, which
 * costs nothing if they run. The roles that are derived from an operator do not contain the kinds: add them to its
 * `rules`.
 *
 * @example
 * const { spec } = policy
 * watches.start(`policy ${policy.metadata.name}`, {
 *   resource: await client.resourceFor({ apiVersion: spec.apiVersion, kind: spec.kind }, { signal }),
 *   map: () => [objectKey(policy)],
 * })
 */
export interface RuntimeWatches {
  /** The names of watches that run. */
  readonly names: readonly string[]
  /**
   * Starts a watch, or returns the one of this name if it is of the same resource and selection: it keeps its mapper then.
   * One of another resource or selection is replaced. A kind may be missing, unless `mayBeMissing` is false.
   *
   * *Errors*: `TooManyInformersError`, `UnscopedInformerError`.
   */
  start<S extends KubeObject>(name: string, source: MappedSource<S>): RuntimeWatch
  /** Stops a watch; resolves when nothing of it runs. Does nothing if there is none of this name. */
  stop(name: string): Promise<void>
}

interface Running {
  readonly watch: RuntimeWatch
  readonly source: BorrowedSource
}

/** The watches of one controller. */
export class ControllerWatches implements RuntimeWatches {
  readonly #sources: WatchedSources
  readonly #logger: Logger
  readonly #running = new Map<string, Running>()
  /** Stops in progress. */
  readonly #stopping = new Set<Promise<void>>()

  constructor(sources: WatchedSources, logger: Logger) {
    this.#sources = sources
    this.#logger = logger
  }

  get names(): readonly string[] {
    return [...this.#running.keys()]
  }

  start<S extends KubeObject>(name: string, source: MappedSource<S>): RuntimeWatch {
    const known = this.#running.get(name)
    const borrowed = this.#sources.borrow({ mayBeMissing: true, ...source })
    if (known !== undefined && isSame(known.source, borrowed)) {
      void this.#release(borrowed)
      return known.watch
    }
    if (known !== undefined) void this.#release(known.source)
    const watch = runtimeWatch(name, borrowed)
    this.#running.set(name, { watch, source: borrowed })
    borrowed.begin()
    this.#logger.info({ watch: name, informer: describe(borrowed) }, 'watch started')
    return watch
  }

  async stop(name: string): Promise<void> {
    const known = this.#running.get(name)
    if (known === undefined) return
    this.#running.delete(name)
    this.#logger.info({ watch: name, informer: describe(known.source) }, 'watch stopped')
    await this.#release(known.source)
  }

  /** Stops all of them; resolves when nothing runs. */
  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.stop(name)))
    await Promise.all(this.#stopping)
  }

  #release(source: BorrowedSource): Promise<void> {
    const released = source.release().finally(() => this.#stopping.delete(released))
    this.#stopping.add(released)
    return released
  }
}

/** For where nothing is watched, such as a plan: every watch is synced, and shows nothing. */
export const noRuntimeWatches: RuntimeWatches = {
  names: [],
  start: (name) => ({ name, isSynced: true, isServed: false, whenSynced: () => Promise.resolve() }),
  stop: () => Promise.resolve(),
}

function runtimeWatch(name: string, { informers }: BorrowedSource): RuntimeWatch {
  return {
    name,
    get isSynced() {
      return informers.every(({ isSynced }) => isSynced)
    },
    get isServed() {
      return informers.every(({ isServed }) => isServed)
    },
    whenSynced: async (signal) => {
      await untilAborted(Promise.all(informers.map((informer) => informer.waitForSync(signal))), signal)
    },
  }
}

function isSame(one: BorrowedSource, other: BorrowedSource): boolean {
  return one.informers.length === other.informers.length && one.informers.every((it, at) => it === other.informers[at])
}

function describe({ informers }: BorrowedSource): string {
  return informers.map(({ resource, selection }) => describeSelection(resource, selection)).join(', ')
}
