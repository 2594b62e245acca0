/** An in-memory ClusterApi, so that unit tests need no server: versions, uids, finalizers, events; no validation. */

import type { ClusterApi, ClusterEvent } from '../../api/cluster-api.ts'
import { isJsonObject, type JsonObject } from '../../json.ts'
import { StatusError } from '../../status-error.ts'

/** The fake, with additional functions for tests. */
export interface FakeClusterApi extends ClusterApi {
  /** Stores `object` as given, synchronously. */
  put(resource: string, object: JsonObject): JsonObject
  /** Resources that `resources()` reports. */
  readonly served: { resource: string; namespaced: boolean; kind: string; group: string }[]
  /** Every write so far, such as `update crds a`. */
  readonly writes: string[]
}

/** Creates a fake with these objects, by resource. */
export function fakeClusterApi(objects: Readonly<Record<string, readonly JsonObject[]>> = {}): FakeClusterApi {
  const store = new Map<string, JsonObject>()
  const listeners = new Set<(event: ClusterEvent) => void>()
  const writes: string[] = []
  let revision = 0

  const key = (resource: string, object: JsonObject) => {
    const { namespace, name } = meta(object)
    return `${resource}|${String(namespace ?? '')}|${String(name)}`
  }

  function commit(resource: string, object: JsonObject): JsonObject {
    revision += 1
    const at = key(resource, object)
    const previous = store.get(at)
    const uid = meta(previous ?? object).uid ?? `uid-${revision}`
    const stored = { ...object, metadata: { ...meta(object), uid, resourceVersion: String(revision) } }
    store.set(at, stored)
    const type = previous === undefined ? 'ADDED' : 'MODIFIED'
    for (const listener of listeners) listener({ type, resource, object: stored, previous })
    return stored
  }

  function drop(resource: string, object: JsonObject): void {
    revision += 1
    store.delete(key(resource, object))
    for (const listener of listeners) listener({ type: 'DELETED', resource, object, previous: object })
  }

  const api: FakeClusterApi = {
    served: [],
    writes,
    put: commit,
    get: (resource, namespace, name) => store.get(`${resource}|${namespace ?? ''}|${name}`),
    list: (resource, options = {}) =>
      [...store]
        .filter(([at]) => at.startsWith(`${resource}|${options.namespace ?? ''}`))
        .map(([, object]) => object)
        .filter((object) => options.namespace === undefined || meta(object).namespace === options.namespace),
    create: async (resource, object) => {
      writes.push(`create ${resource} ${String(meta(object).name)}`)
      if (store.has(key(resource, object))) throw new StatusError(409, 'AlreadyExists', 'already exists')
      return commit(resource, object)
    },
    update: async (resource, object, options = {}) => {
      writes.push(
        `update ${resource}${options.subresource ? `/${options.subresource}` : ''} ${String(meta(object).name)}`,
      )
      const current = store.get(key(resource, object))
      if (current === undefined) throw new StatusError(404, 'NotFound', 'not found')
      const version = meta(object).resourceVersion
      if (version !== undefined && version !== meta(current).resourceVersion) {
        throw new StatusError(409, 'Conflict', 'the object has been modified')
      }
      const next = options.subresource === 'status' ? { ...current, status: object.status } : object
      const finalizers = meta(next).finalizers
      const isFinalized = !Array.isArray(finalizers) || finalizers.length === 0
      if (meta(next).deletionTimestamp !== undefined && isFinalized) {
        drop(resource, next)
        return next
      }
      return commit(resource, next)
    },
    delete: async (resource, namespace, name) => {
      writes.push(`delete ${resource} ${name}`)
      const current = store.get(`${resource}|${namespace ?? ''}|${name}`)
      if (current === undefined) throw new StatusError(404, 'NotFound', 'not found')
      const finalizers = meta(current).finalizers
      if (Array.isArray(finalizers) && finalizers.length > 0) {
        commit(resource, { ...current, metadata: { ...meta(current), deletionTimestamp: '2026-01-01T00:00:00Z' } })
      } else drop(resource, current)
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    resources: () => api.served,
  }
  for (const [resource, initial] of Object.entries(objects)) for (const object of initial) commit(resource, object)
  return api
}

function meta(object: JsonObject): JsonObject {
  return isJsonObject(object.metadata) ? object.metadata : {}
}
