/** In-process access to the cluster, for the controllers that run next to the API server. */
import type { JsonObject } from '../json.ts'

/** An object after a committed write. `previous` is absent for ADDED; for DELETED `object` is the last state. */
export interface ClusterEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** Such as `deployments.apps`. */
  readonly resource: string
  readonly object: JsonObject
  readonly previous: JsonObject | undefined
}

/**
 * Reads are synchronous and return frozen objects in their storage version; writes go through the same defaulting,
 * admission, validation and conflict rules as a request over HTTP, by the system user. `resource` is `plural` or
 * `plural.group`.
 */
export interface ClusterApi {
  get(resource: string, namespace: string | undefined, name: string): JsonObject | undefined
  list(resource: string, options?: { namespace?: string; labelSelector?: string }): readonly JsonObject[]
  /** Creates the object, or posts it to a subresource: the scheduler posts a `Binding` to `binding` of `pods`. */
  create(resource: string, object: JsonObject, options?: { subresource?: string }): Promise<JsonObject>
  /**
   * Replaces the object, or with `subresource: 'status'` its status, with `finalize` a namespace's
   * `spec.finalizers`; conflicts reject with a StatusError 409.
   */
  update(resource: string, object: JsonObject, options?: { subresource?: string }): Promise<JsonObject>
  delete(
    resource: string,
    namespace: string | undefined,
    name: string,
    options?: {
      propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
      gracePeriodSeconds?: number
      preconditions?: { uid?: string; resourceVersion?: string }
    },
  ): Promise<void>
  /**
   * Every committed write, in order, after it is visible to reads and before the promise of the write resolves: after
   * awaiting a write, its event has been delivered. Returns the function that unsubscribes.
   */
  subscribe(listener: (event: ClusterEvent) => void): () => void
  /** All served resources, as `plural.group`, with whether they are namespaced. */
  resources(): readonly {
    readonly resource: string
    readonly namespaced: boolean
    readonly kind: string
    readonly group: string
  }[]
}

/** A component that runs next to the API server. `stop` resolves when it has stopped completely. */
export interface ClusterController {
  readonly name: string
  start(): void
  stop(): Promise<void>
}
