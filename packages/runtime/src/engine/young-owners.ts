/** Which owners need not be read from the server before something is created for them. */
import type { KubeObject, Stored } from '@reeve/kube'
import { LruMap } from '../lru-map.ts'

/** Owners created longer ago than this usually have their objects: that one has none may mean that the view is stale. */
const YOUNG_MS = 60_000

/** Owners that are remembered. One that is forgotten costs at most one more creation on a stale view. */
const CAPACITY = 10_000

/**
 * A new owner has no objects yet, so its first reconcile creates them. Reading the owner each time would add a request to
 * every new resource, to rule out that it was deleted within its first minute.
 *
 * *Guarantees*: an owner is trusted once. What is created for an owner that no longer exists is deleted by the garbage
 * collector, and not created again: by then the owner is known, and is read from the server first.
 */
export class YoungOwners {
  readonly #known: LruMap<string, true>

  constructor(capacity = CAPACITY) {
    this.#known = new LruMap(capacity)
  }

  /** Whether this owner may be trusted to exist. */
  isTrusted({ metadata: { uid, creationTimestamp } }: Stored<KubeObject>, nowMs: number): boolean {
    if (creationTimestamp === undefined || this.#known.get(uid) !== undefined) return false
    return nowMs - Date.parse(creationTimestamp) < YOUNG_MS
  }

  /** Something was created for this owner. */
  remember({ metadata: { uid } }: Stored<KubeObject>): void {
    this.#known.getOrMake(uid, () => true)
  }
}
