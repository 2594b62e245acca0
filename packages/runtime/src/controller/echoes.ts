/** Which events show a write of the very key that they would run again. */
import { formatKey, type KubeObject, type ObjectKey, type ObjectMeta, type Status } from '@reeve/kube'
import type { ClientCall } from '../client/intercept.ts'
import { LruMap } from '../lru-map.ts'
import type { ObjectChange } from './predicates.ts'

/** States that are remembered: what ten retries per second write while the watch lags behind by minutes. */
const CAPACITY = 10_000

/**
 * The states that reconciles have left behind, by the key that was reconciled: what one key writes is news for another.
 */
export class Echoes {
  readonly #states = new LruMap<string, true>(CAPACITY)

  /** Records the response to a write of the reconcile of `key`. */
  record(key: ObjectKey, { verb }: Pick<ClientCall, 'verb'>, response: unknown): void {
    // A deletion returns the object or a Status; writes of several objects and raw requests return something else.
    const answer = response as Pick<Status, 'details'>
    const { metadata = {} } = answer as { readonly metadata?: Partial<ObjectMeta> }
    const { uid = answer.details?.uid, resourceVersion, deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata
    if (uid === undefined) return
    if (resourceVersion !== undefined) this.#add(key, uid, resourceVersion)
    // What a finalizer or a grace period holds is deleted later, by somebody else.
    const isHeld = (metadata.finalizers?.length ?? 0) > 0 || deletionGracePeriodSeconds > 0
    if ((verb === 'delete' || deletionTimestamp !== undefined) && !isHeld) this.#add(key, uid, DELETED)
  }

  /** Whether a change is what the reconcile of `key` itself wrote. */
  has(key: ObjectKey, { type, object }: ObjectChange<KubeObject>): boolean {
    const { uid, resourceVersion } = object.metadata
    return this.#states.get(idOf(key, uid, type === 'deleted' ? DELETED : resourceVersion)) !== undefined
  }

  #add(key: ObjectKey, uid: string, state: string): void {
    this.#states.set(idOf(key, uid, state), true)
  }
}

const DELETED = 'deleted'

function idOf(key: ObjectKey, uid: string, state: string): string {
  return `${formatKey(key)} ${uid} ${state}`
}
