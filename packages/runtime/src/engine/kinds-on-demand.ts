/**
 * Kinds that are read when they are needed instead of being watched, because most clusters do not serve them: a watch on
 * a read of a missing kind only fails. So no operator has to be restarted when such a kind is installed or removed.
 */
import {
  formatKey,
  groupOf,
  isForbidden,
  isNotFound,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  type Stored,
} from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import type { Logger } from '../logging/logger.ts'
import { LruMap } from '../lru-map.ts'
import { controllerOf } from '../owner-references/owner-reference.ts'
import type { Change } from './apply.ts'

/** The kinds, and which resources need them. */
export interface KindsOnDemand<Primary extends KubeObject> {
  readonly kinds: readonly Resource[]
  /** Whether a resource needs objects of these kinds. One that does not is read once, to prune what it had. */
  isWanted(primary: Primary): boolean
  /** The error for a resource that needs kinds that the cluster does not serve. */
  missing(cause: unknown): Error
}

/** How many resources are remembered to have nothing of the kinds. One that was evicted costs a list again. */
const CAPACITY = 10_000

/** The input of reads. */
interface ReadContext {
  readonly client: Pick<KubeClient, 'listAll'>
  readonly logger: Logger
  readonly signal: AbortSignal
}

/** Reads the objects of a resource when they may matter. Remembers, within bounds, which resources have none. */
export class OnDemandReader<Primary extends KubeObject> {
  readonly #options: KindsOnDemand<Primary>
  /** Resources that need nothing and have nothing, with their uid. */
  readonly #done = new LruMap<string, string>(CAPACITY)

  constructor(options: KindsOnDemand<Primary>) {
    this.#options = options
  }

  /**
   * The objects of a resource; undefined if it neither needs nor has any. Rejects only with the reason of
   * the signal: an error is thrown when the objects are read, so that only components that need them fail.
   */
  async read(owner: Stored<Primary>, { client, logger, signal }: ReadContext): Promise<OnDemandView | undefined> {
    const { kinds } = this.#options
    const isWanted = this.#options.isWanted(owner)
    const key = formatKey(objectKey(owner))
    if (isWanted) this.#done.delete(key)
    else if (this.#done.get(key) === owner.metadata.uid) return undefined
    const { namespace } = owner.metadata
    const scope = namespace === undefined ? {} : { namespace }
    try {
      const lists = await Promise.all(kinds.map((kind) => client.listAll<KubeObject>(kind, { ...scope, signal })))
      return new OnDemandView(
        kinds,
        lists.flatMap(({ items }) => items),
      )
    } catch (error) {
      signal.throwIfAborted()
      if (isWanted) return new OnDemandView(kinds, [], isNotFound(error) ? this.#options.missing(error) : error)
      if (isNotFound(error) || isForbidden(error)) this.finish(owner)
      else logger.warn({ err: error }, 'could not read objects that may have to be pruned')
      return undefined
    }
  }

  /** Forgets resources that another replica may have worked on. */
  forget(isGone: (key: string) => boolean): void {
    for (const key of [...this.#done.keys()].filter(isGone)) this.#done.delete(key)
  }

  /** Call it when a resource that needs nothing has nothing left. */
  finish(owner: Stored<Primary>): void {
    if (!this.#options.isWanted(owner)) this.#done.set(formatKey(objectKey(owner)), owner.metadata.uid)
  }
}

/** The objects as they were read, with what was written since. */
export class OnDemandView {
  readonly kinds: readonly Resource[]
  readonly #live = new Map<string, Stored<KubeObject>>()
  readonly #failure: unknown

  constructor(kinds: readonly Resource[], objects: Iterable<Stored<KubeObject>>, failure?: unknown) {
    this.kinds = kinds
    this.#failure = failure
    for (const object of objects) this.#live.set(identify(typeOf(object), objectKey(object)), object)
  }

  /** Whether the objects could be read, so that they may be pruned. */
  get isReadable(): boolean {
    return this.#failure === undefined
  }

  /** Takes note of what was written. */
  record(changes: readonly Change[]): void {
    for (const { type, resource, object } of changes.filter((change) => this.#includes(change.resource))) {
      const identity = identify(resource, objectKey(object))
      if (type === 'deleted') this.#live.delete(identity)
      else this.#live.set(identity, object)
    }
  }

  /** A view that shows these kinds from here, and everything else from `others`. *Errors*: why they were not read. */
  over(others: CacheReader): CacheReader {
    const isHere = (of: Resource) => {
      if (!this.#includes(of)) return false
      if (this.#failure !== undefined) throw this.#failure
      return true
    }
    const live = this.#live
    return {
      get<T extends KubeObject>(of: Resource<T>, key: ObjectKey) {
        if (!isHere(of)) return others.get(of, key)
        return live.get(identify(of, key)) as Stored<T> | undefined // kept under its kind
      },
      ownedBy<T extends KubeObject>(of: Resource<T>, ownerUid: string) {
        if (!isHere(of)) return others.ownedBy(of, ownerUid)
        const owned = [...live.values()].filter(
          (one) => isSameKind(typeOf(one), of) && controllerOf(one)?.uid === ownerUid,
        )
        return owned as readonly Stored<KubeObject>[] as readonly Stored<T>[] // of that kind
      },
      list: (of, options) => others.list(of, options),
      byIndex: (of, index, value) => others.byIndex(of, index, value),
      provenAt: (of, owner, absent, namespace) =>
        this.#includes(absent) ? undefined : others.provenAt?.(of, owner, absent, namespace),
      selects: (of, object) => this.#includes(of) || others.selects(of, object),
    }
  }

  #includes(resource: Resource): boolean {
    return this.kinds.some((known) => isSameKind(known, resource))
  }
}

/** Two groups may have kinds of one name, such as the Services of Knative. */
type GroupKind = Pick<Resource, 'group' | 'kind'>

const typeOf = ({ apiVersion, kind }: KubeObject): GroupKind => ({ group: groupOf(apiVersion), kind })

const isSameKind = (one: GroupKind, other: GroupKind): boolean => one.group === other.group && one.kind === other.kind

const identify = ({ group, kind }: GroupKind, key: ObjectKey): string => `${group}/${kind}/${formatKey(key)}`
