/** Makes sure that an owner exists before objects are created for it. */
import type { KubeClient, KubeObject, Resource, Stored } from '@reeve/kube'
import type { CacheReader } from '../cache/cache-reader.ts'
import { isNewer, isOrdered } from '../resource-version.ts'
import type { DesiredObject } from './desired-object.ts'
import { requireLive } from './require-live.ts'

/** Whether resourceVersions of different kinds can be compared. Kept for the life of an engine. */
export class VersionOrder {
  #isShared = true

  /** Until a write shows that two kinds are stored in different databases. */
  get isShared(): boolean {
    return this.#isShared
  }

  /** A write that was sent after `known` had been seen: in one database it has a newer version. */
  written(version: string, known: string): void {
    if (!isOrdered(version) || !isNewer(version, known)) this.#isShared = false
  }
}

/** Everything an {@link OwnerCheck} needs. */
export interface OwnerCheckOptions {
  readonly client: KubeClient
  readonly resource: Resource
  readonly owner: Stored<KubeObject>
  readonly view: CacheReader
  readonly versions: VersionOrder
  readonly signal: AbortSignal
}

/**
 * The check of one owner in one reconcile.
 *
 * The garbage collector deletes immediately what is created for a deleted owner, and the deletion causes a reconcile that
 * creates it again: a loop for as long as the view of the owner is stale. So the owner is read from the server first, unless
 * the view itself shows it at a time at which the object to create was already known to be absent. Then the two facts belong
 * together, and no deletion that the operator has seen can be a consequence of one that it has not.
 */
export class OwnerCheck {
  readonly #options: OwnerCheckOptions
  /** Objects that are created at the same time share it. */
  #read: Promise<void> | undefined

  constructor(options: OwnerCheckOptions) {
    this.#options = options
  }

  /**
   * Call this before an object is created, and the returned function with its resourceVersion afterwards.
   *
   * *Errors*: `StaleViewError` when the owner was deleted, is being deleted or was changed meanwhile.
   */
  async beforeCreate({ resource, object }: DesiredObject): Promise<(version: string) => void> {
    const { client, resource: ownerResource, owner, view, versions, signal } = this.#options
    if (this.#read === undefined) {
      const proof = versions.isShared
        ? view.provenAt?.(ownerResource, owner, resource, object.metadata.namespace)
        : undefined
      if (proof !== undefined) return (version) => versions.written(version, proof)
    }
    this.#read ??= requireLive(client, ownerResource, owner, { signal })
    await this.#read
    return () => undefined
  }
}
