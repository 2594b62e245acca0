/** The client: one method per verb, each converted to a call of the executor. */

import { type Clock, withDeadline } from '@reeve/http'
import type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  KubeClient,
  ListOptions,
  Patch,
  RawRequest,
  RequestOptions,
  Selection,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts'
import { DEFAULT_PAGE_SIZE } from './defaults.ts'
import type { Discovery } from './discovery.ts'
import { DeadlineExceededError } from './errors.ts'
import { HttpPodStreams } from './http-pod-streams.ts'
import { readAllPages } from './list-pages.ts'
import { objectKey } from './object-key.ts'
import { METADATA_LIST, METADATA_OBJECT, requireObject, shapeList, shapeOf } from './object-shape.ts'
import type { KubeList, KubeObject, ObjectKey, Status, Stored, UnknownObject } from './objects.ts'
import type { ExecOptions, ExecResult, LogOptions, PodStreams } from './pod-streams.ts'
import { asConnectionError, type Call, type RequestExecutor } from './request-executor.ts'
import { collectionPath, objectPath, type Query, requireNamespace, withQuery } from './request-path.ts'
import { describeObject as describe, type RequestTarget } from './request-target.ts'
import type { Resource } from './resource.ts'
import { WatchDecoder } from './watch-stream.ts'

const PATCH_TYPES = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const

/** Shared: an `AbortError` of its own for every watch would cost more than the rest of its end. */
const watchEnded = new DOMException('the watch has ended', 'AbortError')

/** Dependencies besides the executor. */
export interface HttpClientOptions {
  readonly executor: RequestExecutor
  readonly fieldManager: string
  readonly maxWatchLineBytes: number
  readonly discovery: Discovery
  readonly clock: Clock
  /** Whether lists are requested with gzip. */
  readonly compressLists: boolean
  readonly close: () => Promise<void>
}

/** A {@link KubeClient} that uses HTTP through a transport. Created by `createClient`. */
export class HttpClient implements KubeClient, PodStreams {
  readonly #executor: RequestExecutor
  readonly #options: HttpClientOptions
  readonly #streams: HttpPodStreams
  /** Discovery; shared with {@link KubeClient.resourceFor}. */
  readonly discovery: Discovery

  constructor(options: HttpClientOptions) {
    this.#options = options
    this.#executor = options.executor
    this.#streams = new HttpPodStreams(options.executor, options.clock)
    this.discovery = options.discovery
  }

  async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}): Promise<Stored<T>> {
    const { metadataOnly, resourceVersion, subresource } = options
    const path = withQuery(objectPath(resource, key, subresource), { resourceVersion })
    const target = describe('get', resource, key, subresource)
    const object = await this.#call(target, 'GET', path, options, {
      ...(metadataOnly && { accept: METADATA_OBJECT }),
    })
    return shapeOf<T>(resource, metadataOnly)(requireObject<Stored<T>>(target, object))
  }

  async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { limit = DEFAULT_PAGE_SIZE, metadataOnly } = options
    const path = withQuery(collectionPath(resource, options.namespace), {
      ...selectors(options),
      limit: limit === 0 ? undefined : limit,
      continue: options.continue,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    })
    const target = describe('list', resource, options)
    const list = await this.#call(target, 'GET', path, options, {
      ...(metadataOnly && { accept: METADATA_LIST }),
      ...(this.#options.compressLists && { headers: { 'accept-encoding': 'gzip' } }),
    })
    return shapeList(target, list, shapeOf<T>(resource, metadataOnly))
  }

  async listAll<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubeList<T>> {
    const { timeoutMs, signal } = options
    const readPage = (page: ListOptions) => this.list(resource, page)
    if (timeoutMs === undefined) return readAllPages(options, readPage)
    const onTimeout = () => new DeadlineExceededError(describe('list', resource, options), timeoutMs)
    const bounds = { clock: this.#options.clock, timeoutMs, onTimeout, ...(signal && { signal }) }
    return withDeadline(bounds, (bounded) => readAllPages({ ...options, signal: bounded }, readPage))
  }

  async *watch<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions = {},
  ): AsyncGenerator<WatchEvent<T>, void, undefined> {
    const decoder = this.#decoder(resource, options)
    for await (const chunk of this.#watchedBytes(resource, options)) {
      for (const event of decoder.push(chunk)) {
        options.signal?.throwIfAborted()
        yield event
      }
    }
    yield* decoder.end()
  }

  async follow<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const decoder = this.#decoder(resource, options)
    for await (const chunk of this.#watchedBytes(resource, options)) {
      for (const event of decoder.push(chunk)) {
        options.signal?.throwIfAborted()
        onEvent(event)
      }
    }
    for (const event of decoder.end()) onEvent(event)
  }

  #decoder<T extends KubeObject>(resource: Resource<T>, options: WatchOptions): WatchDecoder<T> {
    const { maxWatchLineBytes } = this.#options
    return new WatchDecoder(
      describe('watch', resource, options),
      maxWatchLineBytes,
      shapeOf<T>(resource, options.metadataOnly),
    )
  }

  /** The body of a watch, chunk by chunk. The request ends with the loop that reads it. */
  async *#watchedBytes(resource: Resource, options: WatchOptions): AsyncGenerator<Uint8Array, void, undefined> {
    const { signal } = options
    const target = describe('watch', resource, options)
    const controller = new AbortController()
    const onAbort = () => controller.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      signal?.throwIfAborted()
      const path = withQuery(collectionPath(resource, options.namespace), watchQuery(options))
      const accept = options.metadataOnly && { accept: METADATA_OBJECT }
      const call: Call = { target, method: 'GET', path, isIdempotent: true, ...accept }
      const { body } = await this.#executor.open(call, controller.signal)
      yield* body
    } catch (error) {
      signal?.throwIfAborted()
      throw asConnectionError(target, error, 'response')
    } finally {
      signal?.removeEventListener('abort', onAbort)
      // Ends the request if the reader left the loop early; after a normal end there is nothing to abort.
      controller.abort(watchEnded)
    }
  }

  logs(pod: ObjectKey, options?: LogOptions): AsyncIterable<Uint8Array> {
    return this.#streams.logs(pod, options)
  }

  exec(pod: ObjectKey, options: ExecOptions): Promise<ExecResult> {
    return this.#streams.exec(pod, options)
  }

  async create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const { namespace, name } = object.metadata
    const { subresource } = options
    requireNamespace(resource, namespace)
    const path =
      subresource === undefined
        ? collectionPath(resource, namespace)
        : objectPath(resource, objectKey(object), subresource)
    const target = describe('create', resource, { namespace, name: name ?? object.metadata.generateName }, subresource)
    return this.#call(target, 'POST', withQuery(path, this.#writeQuery(options)), options, {
      body: object,
      isIdempotent: false,
    })
  }

  async update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    const key = objectKey(object)
    const path = withQuery(objectPath(resource, key, options.subresource), this.#writeQuery(options))
    return this.#call(describe('update', resource, key, options.subresource), 'PUT', path, options, { body: object })
  }

  async patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    const path = withQuery(objectPath(resource, key, options.subresource), this.#writeQuery(options))
    return this.#call(describe('patch', resource, key, options.subresource), 'PATCH', path, options, {
      body: patch.patch,
      contentType: PATCH_TYPES[patch.type],
      // Appending to a list twice appends two elements; merging the same fields twice has no second effect.
      isIdempotent: patch.type !== 'json',
    })
  }

  async apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    const key = objectKey(object)
    const query = { ...this.#writeQuery(options), force: options.force }
    const path = withQuery(objectPath(resource, key, options.subresource), query)
    return this.#call(describe('apply', resource, key, options.subresource), 'PATCH', path, options, {
      body: object,
      // JSON is YAML, and every server that supports apply accepts this type.
      contentType: 'application/apply-patch+yaml',
    })
  }

  async delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<Status | Stored<T>> {
    const path = objectPath(resource, key)
    return this.#call(describe('delete', resource, key), 'DELETE', path, options, deleteBody(options))
  }

  async deleteCollection<T extends KubeObject>(
    resource: Resource<T>,
    options: DeleteOptions & Selection,
  ): Promise<void> {
    const path = withQuery(collectionPath(resource, options.namespace), selectors(options))
    await this.#call(describe('deletecollection', resource, options), 'DELETE', path, options, deleteBody(options))
  }

  async raw<R = unknown>(request: RawRequest): Promise<R> {
    const [path = ''] = request.path.split('?', 1)
    const target: RequestTarget = { verb: 'raw', path: `${request.method} ${path}` }
    const isIdempotent = request.method !== 'POST' && request.method !== 'PATCH'
    return this.#call<R>(target, request.method, request.path, request, {
      body: request.body,
      isIdempotent,
      ...(request.headers && { headers: lowerCased(request.headers) }),
    })
  }

  async resourceFor(
    object: { readonly apiVersion: string; readonly kind: string },
    options: RequestOptions = {},
  ): Promise<Resource<UnknownObject>> {
    return this.discovery.resourceFor(object, options)
  }

  async close(): Promise<void> {
    await this.#options.close()
  }

  #call<R>(
    target: RequestTarget,
    method: Call['method'],
    path: string,
    options: RequestOptions,
    more: Partial<Pick<Call, 'accept' | 'body' | 'contentType' | 'headers' | 'isIdempotent'>> = {},
  ): Promise<R> {
    const content = this.#executor.content({
      target,
      method,
      path,
      isIdempotent: true,
      ...more,
      ...(options.signal && { signal: options.signal }),
      ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
      ...(options.impersonate && { impersonate: options.impersonate }),
    })
    // The caller declares the type of the resource; the server validated the object when it was stored.
    return content as Promise<R>
  }

  #writeQuery(options: WriteOptions): Query {
    return {
      fieldManager: options.fieldManager ?? this.#options.fieldManager,
      dryRun: options.dryRun ? 'All' : undefined,
      fieldValidation: options.fieldValidation,
    }
  }
}

function selectors({ labelSelector, fieldSelector }: Selection): Query {
  return { labelSelector, fieldSelector }
}

function watchQuery(options: WatchOptions): Query {
  return {
    ...selectors(options),
    watch: true,
    allowWatchBookmarks: options.allowWatchBookmarks,
    // `false` is meaningful here: start at the most recent version without a list.
    sendInitialEvents: options.sendInitialEvents === undefined ? undefined : String(options.sendInitialEvents),
    resourceVersion: options.resourceVersion,
    resourceVersionMatch: options.resourceVersionMatch,
    timeoutSeconds: options.timeoutSeconds,
  }
}

function deleteBody(options: DeleteOptions): { readonly body?: unknown } {
  const { dryRun, propagationPolicy, gracePeriodSeconds, preconditions } = options
  const body = {
    ...(propagationPolicy && { propagationPolicy }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(preconditions && { preconditions }),
    // The server reads options from the body or from the query, never from both.
    ...(dryRun && { dryRun: ['All'] }),
  }
  return Object.keys(body).length === 0 ? {} : { body: { apiVersion: 'v1', kind: 'DeleteOptions', ...body } }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
