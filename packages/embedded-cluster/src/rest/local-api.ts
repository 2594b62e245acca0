/** {@link ClusterApi} on top of the verbs: no serialization, no routing, the same rules. */

import { resourceNotFound } from '../api/api-errors.ts'
import type { ClusterApi, ClusterEvent } from '../api/cluster-api.ts'
import { parseLabelSelector } from '../api/label-selector.ts'
import { nameOf, namespaceOf } from '../api/object-meta.ts'
import { systemUser, type UserInfo } from '../api/user.ts'
import { cloneJson, type JsonObject } from '../json.ts'
import { groupResource, type ResourceInfo, storageKey } from '../registry/resource-info.ts'
import type { ParsedBody } from '../schema/parse.ts'
import { objectKey } from '../store/stored-object.ts'
import type { WriteRequest } from './context.ts'
import { createObject } from './create.ts'
import { decodeObject } from './decode-object.ts'
import { type DeleteOptions, deleteObject } from './delete.ts'
import { replaceObject } from './replace.ts'
import { Selection } from './selection.ts'
import type { ServerContext } from './server-context.ts'
import { findSubresource } from './subresources.ts'

/** Options of {@link LocalApi}. */
export interface LocalApiOptions {
  /**
   * The acting user.
   * @default the system user
   */
  readonly user?: UserInfo
  /**
   * The manager of written fields.
   * @default 'kube-controller-manager'
   */
  readonly fieldManager?: string
}

/** Access for components that run next to the API server. */
export class LocalApi implements ClusterApi {
  readonly #context: ServerContext
  readonly #user: UserInfo
  readonly #fieldManager: string

  constructor(context: ServerContext, options: LocalApiOptions = {}) {
    this.#context = context
    this.#user = options.user ?? systemUser
    this.#fieldManager = options.fieldManager ?? 'kube-controller-manager'
  }

  get(resource: string, namespace: string | undefined, name: string): JsonObject | undefined {
    const collection = this.#collection(resource)
    return collection === undefined
      ? undefined
      : this.#context.store.get(collection, objectKey(namespace, name))?.object
  }

  list(resource: string, options: { namespace?: string; labelSelector?: string } = {}): readonly JsonObject[] {
    const collection = this.#collection(resource)
    if (collection === undefined) return []
    const { namespace, labelSelector = '' } = options
    const labels = labelSelector === '' ? undefined : parseLabelSelector(labelSelector)
    const selection = new Selection(namespace === undefined ? '' : `${namespace}/`, labels, [])
    const objects: JsonObject[] = []
    for (const stored of this.#context.store.range(collection, { prefix: selection.prefix })) {
      if (selection.matches(stored)) objects.push(stored.object)
    }
    return objects
  }

  async create(resource: string, object: JsonObject, options: { subresource?: string } = {}): Promise<JsonObject> {
    const { subresource } = options
    const body = { value: cloneJson(object), duplicates: [] }
    if (subresource !== undefined) {
      return this.#callSubresource(
        'create',
        this.#request(resource, namespaceOf(object), nameOf(object), subresource),
        body,
      )
    }
    const request = this.#request(resource, namespaceOf(object), undefined)
    return createObject(this.#context, request, decodeObject(this.#context, request, body))
  }

  async update(resource: string, object: JsonObject, options: { subresource?: string } = {}): Promise<JsonObject> {
    const request = this.#request(resource, namespaceOf(object), nameOf(object), options.subresource)
    const value = options.subresource === 'status' ? statusDraft(object) : cloneJson(object)
    const body = { value, duplicates: [] }
    if (findSubresource(request.info, options.subresource) !== undefined) {
      return this.#callSubresource('update', request, body)
    }
    const replaced = await replaceObject(this.#context, request, body)
    return replaced.object
  }

  async delete(
    resource: string,
    namespace: string | undefined,
    name: string,
    options: DeleteOptions = {},
  ): Promise<void> {
    await deleteObject(this.#context, this.#request(resource, namespace, name), options)
  }

  subscribe(listener: (event: ClusterEvent) => void): () => void {
    return this.#context.store.listenToAll((event) => {
      listener({
        type: event.type,
        resource: event.collection,
        object: event.current.object,
        previous: event.previous?.object,
      })
    })
  }

  resources() {
    const seen = new Map<string, { resource: string; namespaced: boolean; kind: string; group: string }>()
    for (const info of this.#context.registry.all()) {
      const resource = groupResource(info)
      const isStored = info.verbs.includes('list') && info.storedAs === undefined
      if (!isStored || seen.has(resource)) continue
      seen.set(resource, { resource, namespaced: info.namespaced, kind: info.kind, group: info.group })
    }
    return [...seen.values()]
  }

  async #callSubresource(verb: 'create' | 'update', request: WriteRequest, body: ParsedBody): Promise<JsonObject> {
    const handler = findSubresource(request.info, request.subresource)
    if (handler === undefined) throw resourceNotFound()
    const call = {
      verb,
      query: new URLSearchParams(),
      body: async () => body,
      headers: {},
      mediaType: 'application/json',
    }
    const result = await handler(this.#context, request, call)
    return 'object' in result ? result.object : {}
  }

  #info(resource: string): ResourceInfo | undefined {
    return this.#context.registry.stored(resource)
  }

  /** Objects of a resource that is no longer served still exist until they are deleted. */
  #collection(resource: string): string | undefined {
    const info = this.#info(resource)
    return info === undefined ? resource : storageKey(info)
  }

  #request(
    resource: string,
    namespace: string | undefined,
    name: string | undefined,
    subresource?: string,
  ): WriteRequest {
    const info = this.#info(resource)
    if (info === undefined) throw resourceNotFound()
    return {
      info,
      subresource,
      namespace: info.namespaced ? namespace : undefined,
      name,
      user: this.#user,
      dryRun: false,
      fieldManager: this.#fieldManager,
      fieldValidation: 'Ignore',
      options: {},
      // Warnings are for interactive users; controllers ignore them.
      warn: () => undefined,
      signal: new AbortController().signal,
    }
  }
}

/**
 * A draft in which only metadata and status may be modified: the rest of the stored object is neither written nor
 * copied.
 */
function statusDraft(object: JsonObject): JsonObject {
  const draft: JsonObject = {}
  for (const [field, value] of Object.entries(object)) {
    const isShared = field !== 'metadata' && field !== 'status' && Object.isFrozen(value)
    draft[field] = isShared ? value : cloneJson(value)
  }
  return draft
}
