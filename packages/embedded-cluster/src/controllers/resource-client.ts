/** Typed access to one resource: the only place where JSON of the server becomes a typed object. */

import type { ClusterApi } from '../api/cluster-api.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '../json.ts'
import { isNotFound } from './control-loop.ts'
import { type ClusterObject, type Draft, namespaceOf } from './kinds/meta.ts'

/** Options of a deletion. */
export interface DeleteOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
}

/** Reads and writes of one resource. Objects read are frozen: copy them to change them. */
export class ResourceClient<T extends ClusterObject & { readonly status?: unknown }> {
  readonly resource: string
  readonly #api: ClusterApi

  constructor(api: ClusterApi, resource: string) {
    this.#api = api
    this.resource = resource
  }

  /** The stored object. An empty namespace means cluster-scoped. */
  get(namespace: string, name: string): T | undefined {
    const object = this.#api.get(this.resource, namespace === '' ? undefined : namespace, name)
    return object === undefined ? undefined : asObject(object)
  }

  list(namespace?: string): readonly T[] {
    return this.#api
      .list(this.resource, namespace === undefined ? {} : { namespace })
      .map((object) => asObject<T>(object))
  }

  async create(object: Draft<T>): Promise<T> {
    return asObject(await this.#api.create(this.resource, asJson(object)))
  }

  /** Replaces everything but the status; fails with a conflict if the object changed since it was read. */
  async update(object: T): Promise<T> {
    return asObject(await this.#api.update(this.resource, asJson(object)))
  }

  /** Writes the status if it differs from the one in `object`; returns whether it did. */
  async updateStatus(object: T, status: NonNullable<T['status']>): Promise<boolean> {
    if (jsonEquals(object.status, status)) return false
    await this.#api.update(this.resource, asJson({ ...object, status }), { subresource: 'status' })
    return true
  }

  /** Writes annotations together with the status, so that the generation does not change. */
  async annotateWithStatus(object: T, annotations: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } }
    await this.#api.update(this.resource, asJson({ ...object, metadata }), { subresource: 'status' })
  }

  /** Deletes this object, but not a newer one with the same name. An object that is already deleted is ignored. */
  async delete(object: T, options: DeleteOptions = {}): Promise<void> {
    const { namespace, name, uid } = object.metadata
    try {
      await this.#api.delete(this.resource, namespace, name, { ...options, preconditions: { uid } })
    } catch (error) {
      const now = this.get(namespaceOf(object), name)
      if (now === undefined || now.metadata.uid !== uid) return
      if (!isNotFound(error)) throw error
    }
  }
}

/** The server validated the object against its kind when it was written, so its shape is known. */
export function asObject<T extends ClusterObject>(object: JsonObject): T {
  return object as unknown as T
}

/** Interfaces have no index signature, so the compiler does not accept them as JSON objects. */
export function asJson(object: object): JsonObject {
  if (!isJsonObject(object)) throw new TypeError('expected an object, not a list')
  return object
}

/** Whether two values are equal as JSON. A field that is `undefined` counts as absent. */
export function jsonEquals(a: unknown, b: unknown): boolean {
  // Typed objects are JSON too; their interfaces only lack an index signature.
  return jsonEqual(a as JsonValue | undefined, b as JsonValue | undefined)
}
