/** The API of a cluster for controllers under test: writes are counted and can be rejected. */

import type { ClusterApi, ClusterEvent } from '../../api/cluster-api.ts'
import type { JsonObject } from '../../json.ts'

/** Delegates to a real API. */
export class WatchedApi implements ClusterApi {
  /** The number of commits by any client, so that a test can assert that nothing happened. */
  writes = 0
  /** Rejects a write of a controller by throwing; set by tests of failures. */
  rejectWrite: (verb: string, resource: string) => void = () => undefined
  readonly #api: ClusterApi

  constructor(api: ClusterApi) {
    this.#api = api
    api.subscribe(() => {
      this.writes += 1
    })
  }

  get(resource: string, namespace: string | undefined, name: string): JsonObject | undefined {
    return this.#api.get(resource, namespace, name)
  }

  list(resource: string, options?: { namespace?: string; labelSelector?: string }): readonly JsonObject[] {
    return this.#api.list(resource, options)
  }

  async create(resource: string, object: JsonObject, options?: { subresource?: string }): Promise<JsonObject> {
    this.rejectWrite('create', resource)
    return this.#api.create(resource, object, options)
  }

  async update(resource: string, object: JsonObject, options?: { subresource?: string }): Promise<JsonObject> {
    this.rejectWrite('update', resource)
    return this.#api.update(resource, object, options)
  }

  async delete(
    resource: string,
    namespace: string | undefined,
    name: string,
    options?: Parameters<ClusterApi['delete']>[3],
  ): Promise<void> {
    this.rejectWrite('delete', resource)
    return this.#api.delete(resource, namespace, name, options)
  }

  subscribe(listener: (event: ClusterEvent) => void): () => void {
    return this.#api.subscribe(listener)
  }

  resources(): ReturnType<ClusterApi['resources']> {
    return this.#api.resources()
  }
}
