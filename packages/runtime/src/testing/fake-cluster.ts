/**
 * The smallest server that can misbehave like a real one: versions, lists in pages, watches that resume, expire,
 * lag, break and fall silent. For the tests of the cache and of controllers; it validates nothing.
 */
import { type Clock, isRecord } from '@reeve/http'
import {
  ApiError,
  apiVersionOf,
  type DeleteOptions,
  formatKey,
  type KubeClient,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectKey,
  type Resource,
  type Selection,
  type Status,
  type Stored,
  type UnknownObject,
  type Verb,
  type WatchOptions,
  type WriteOptions,
} from '@reeve/kube'
import { fieldMatcher, labelMatcher } from '../cache/selector.ts'
import { FakeWatch } from './fake-watch.ts'

interface Entry {
  readonly version: number
  readonly resource: string
  readonly key: string
  /** Absent after a deletion. */
  readonly object: Stored<KubeObject> | undefined
  readonly previous: Stored<KubeObject> | undefined
}

interface OpenWatch {
  readonly watch: FakeWatch
  readonly resource: string
  readonly selects: (object: KubeObject) => boolean
  /** Until the request has its response nothing is sent: live events come after the replay. */
  isStarted: boolean
}

/** A request as hooks see it. */
export interface FakeRequest {
  readonly verb: Verb
  /** Plural name. */
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly signal?: AbortSignal
}

/** Options of {@link FakeCluster}. */
export interface FakeClusterOptions {
  readonly clock: Clock
  /** What the server does when a client requests to stream its initial state. @default 'offered' */
  readonly streaming?: 'offered' | 'refused' | 'ignored'
}

/** See the comment at the top of this file. */
export class FakeCluster {
  readonly client: KubeClient
  /** Every request, in order. */
  readonly requests: FakeRequest[] = []
  /** Runs before a request has any effect; throw to refuse it, wait to delay it. */
  before: (request: FakeRequest) => void | Promise<void> = () => undefined
  /** Runs after the effect and before the response. */
  after: (request: FakeRequest) => void | Promise<void> = () => undefined
  readonly #clock: Clock
  readonly #streaming: 'offered' | 'refused' | 'ignored'
  readonly #objects = new Map<string, Stored<KubeObject>>()
  readonly #history: Entry[] = []
  readonly #watches = new Set<OpenWatch>()
  #version = 100
  #compactedTo = 0
  #uids = 0

  constructor(options: FakeClusterOptions) {
    this.#clock = options.clock
    this.#streaming = options.streaming ?? 'offered'
    this.client = this.#makeClient()
  }

  get version(): string {
    return String(this.#version)
  }

  /** Watches that are open now. */
  get watches(): readonly FakeWatch[] {
    return [...this.#watches].map(({ watch }) => watch)
  }

  /** How many requests of a verb there were. */
  count(verb: Verb): number {
    return this.requests.filter((request) => request.verb === verb).length
  }

  /** Another client creates or changes an object. */
  put<T extends KubeObject>(of: Resource<T>, object: T): Stored<T> {
    return this.#copy(of, this.#commit(of, object))
  }

  /** Another client deletes an object. */
  remove(of: Resource, key: ObjectKey): void {
    this.#delete(of, key)
  }

  objects<T extends KubeObject>(of: Resource<T>): Stored<T>[] {
    return this.#snapshot(of, this.#version)
  }

  /** Discards all events so far: a watch that resumes from before gets a 410. */
  compact(): void {
    this.#compactedTo = this.#version
  }

  /** Goes back to an earlier version, as a restore from a backup does. Open watches break. */
  restore(version: number): void {
    this.#version = version
    this.#history.splice(0, this.#history.length, ...this.#history.filter((entry) => entry.version <= version))
    this.#objects.clear()
    for (const { key, object } of this.#history) {
      if (object === undefined) this.#objects.delete(key)
      else this.#objects.set(key, object)
    }
    for (const { watch } of this.#watches) watch.fail(new Error('the server is unavailable'))
  }

  /** Sends a bookmark to every open watch that asked for them. */
  bookmark(): void {
    for (const { watch, isStarted } of this.#watches) {
      if (isStarted && watch.options.allowWatchBookmarks) watch.push(bookmarkAt(this.#version))
    }
  }

  refuse(verb: Verb, status: number, reason?: string): ApiError {
    return new ApiError({ verb }, status, {
      body: { apiVersion: 'v1', kind: 'Status', code: status, ...(reason && { reason }) },
    })
  }

  #makeClient(): KubeClient {
    const write = async <R>(
      verb: Verb,
      of: Resource,
      key: Partial<ObjectKey>,
      options: WriteOptions | undefined,
      effect: () => R,
    ) => this.#request(verb, of, key, options?.signal, effect)
    return {
      get: (of, key, options) =>
        this.#request('get', of, key, options?.signal, () => this.#copy(of, this.#mustGet('get', of, key))),
      list: (of, options = {}) => this.#request('list', of, options, options.signal, () => this.#list(of, options)),
      listAll: (of, options = {}) =>
        this.#request('list', of, options, options.signal, () => this.#list(of, { ...options, limit: 0 })),
      watch: (of, options = {}) => this.#watch(of, options),
      follow: async (of, options, onEvent) => {
        for await (const event of this.#watch(of, options)) onEvent(event)
      },
      create: (of, object, options) =>
        write('create', of, object.metadata, options, () => {
          const key = nameOf(object)
          if (this.#objects.has(idOf(of, key))) throw this.refuse('create', 409, 'AlreadyExists')
          return this.#copy(of, this.#commit(of, object))
        }),
      update: (of, object, options) =>
        write('update', of, object.metadata, options, () => {
          const current = this.#mustGet('update', of, nameOf(object))
          const expected = object.metadata.resourceVersion
          if (expected !== undefined && expected !== current.metadata.resourceVersion) throw this.refuse('update', 409)
          return this.#copy(of, this.#commit(of, object))
        }),
      patch: (of, key, patch, options) =>
        write('patch', of, key, options, () => {
          const current = this.#mustGet('patch', of, key)
          const merged = merge(current, patch.type === 'json' ? {} : patch.patch)
          return this.#copy(of, this.#commit(of, merged))
        }),
      apply: (of, object, options) =>
        write('apply', of, object.metadata, options, () => {
          const current = this.#objects.get(idOf(of, nameOf(object)))
          return this.#copy(of, this.#commit(of, merge(current ?? {}, object)))
        }),
      delete: (of, key, options) => write('delete', of, key, options, () => this.#deleteChecked(of, key, options)),
      deleteCollection: () => Promise.reject(new Error('not part of the fake cluster')),
      raw: () => Promise.reject(new Error('not part of the fake cluster')),
      resourceFor: () => Promise.reject(new Error('not part of the fake cluster')),
      close: () => Promise.resolve(),
    }
  }

  async #request<R>(
    verb: Verb,
    of: Resource,
    key: { readonly namespace?: string; readonly name?: string },
    signal: AbortSignal | undefined,
    effect: () => R,
  ): Promise<R> {
    const request: FakeRequest = {
      verb,
      resource: of.plural,
      ...(key.namespace !== undefined && { namespace: key.namespace }),
      ...(key.name !== undefined && { name: key.name }),
      ...(signal && { signal }),
    }
    signal?.throwIfAborted()
    this.requests.push(request)
    await this.before(request)
    signal?.throwIfAborted()
    const answer = effect()
    await this.after(request)
    return answer
  }

  #list<T extends KubeObject>(of: Resource<T>, options: ListOptions): KubeList<T> {
    const selects = selectorOf(options)
    // A token names the place and the snapshot.
    const [from = 0, version = this.#version] = (options.continue?.split(' ') ?? []).map(Number)
    const all = this.#snapshot(of, version)
      .filter(selects)
      .sort((a, b) => (formatKey(a.metadata) < formatKey(b.metadata) ? -1 : 1))
    if (options.continue !== undefined && version < this.#compactedTo) throw this.refuse('list', 410, 'Expired')
    const until = options.limit ? from + options.limit : all.length
    return {
      apiVersion: apiVersionOf(of),
      kind: `${of.kind}List`,
      metadata: { resourceVersion: String(version), ...(until < all.length && { continue: `${until} ${version}` }) },
      items: all.slice(from, until),
    }
  }

  #snapshot<T extends KubeObject>(of: Resource<T>, version: number): Stored<T>[] {
    const found = new Map<string, Stored<KubeObject>>()
    for (const entry of this.#history) {
      if (entry.resource !== of.plural || entry.version > version) continue
      if (entry.object === undefined) found.delete(entry.key)
      else found.set(entry.key, entry.object)
    }
    return structuredClone([...found.values()]) as Stored<T>[] // filed under the resource that carries the type
  }

  #watch<T extends KubeObject>(of: Resource<T>, options: WatchOptions): AsyncIterable<never> {
    this.requests.push({ verb: 'watch', resource: of.plural })
    const watch = new FakeWatch(options, () => this.#watches.delete(open))
    const open: OpenWatch = { watch, resource: of.plural, selects: selectorOf(options), isStarted: false }
    this.#watches.add(open)
    const start = async () => {
      await this.before({ verb: 'watch', resource: of.plural, ...(options.signal && { signal: options.signal }) })
      if (options.timeoutSeconds !== undefined) {
        this.#clock.schedule(options.timeoutSeconds * 1_000, () => watch.end())
      }
      if (options.sendInitialEvents && this.#streaming === 'refused') throw this.refuse('watch', 422, 'Invalid')
      if (options.resourceVersion !== undefined) this.#replay(open, Number(options.resourceVersion))
      else this.#sendInitial(of, open)
      open.isStarted = true
    }
    start().catch((error) => watch.fail(error))
    return watch as unknown as AsyncIterable<never> // assignable to every WatchEvent<T>; objects are those of `of`
  }

  #sendInitial(of: Resource, open: OpenWatch): void {
    for (const object of this.objects(of).filter(open.selects)) open.watch.push({ type: 'ADDED', object })
    if (this.#streaming === 'offered') open.watch.push(bookmarkAt(this.#version, true))
  }

  #replay(open: OpenWatch, from: number): void {
    if (from < this.#compactedTo) throw this.refuse('watch', 410, 'Expired')
    if (from > this.#version) throw this.refuse('watch', 504, 'Timeout')
    for (const entry of this.#history) if (entry.version > from) this.#send(open, entry)
  }

  #commit(of: Resource, object: KubeObject): Stored<KubeObject> {
    const key = nameOf(object)
    const id = idOf(of, key)
    const previous = this.#objects.get(id)
    const stored: Stored<KubeObject> = {
      ...structuredClone(object),
      metadata: {
        ...structuredClone(object.metadata),
        name: key.name,
        uid: previous?.metadata.uid ?? `uid-${++this.#uids}`,
        resourceVersion: String(++this.#version),
        creationTimestamp: previous?.metadata.creationTimestamp ?? new Date(this.#clock.now()).toISOString(),
      },
    }
    this.#objects.set(id, stored)
    this.#record({ version: this.#version, resource: of.plural, key: id, object: stored, previous })
    return stored
  }

  #deleteChecked<T extends KubeObject>(of: Resource<T>, key: ObjectKey, options?: DeleteOptions): Status | Stored<T> {
    const current = this.#mustGet('delete', of, key)
    const { uid = current.metadata.uid, resourceVersion = current.metadata.resourceVersion } =
      options?.preconditions ?? {}
    if (uid !== current.metadata.uid || resourceVersion !== current.metadata.resourceVersion) {
      throw this.refuse('delete', 409)
    }
    this.#delete(of, key)
    return { apiVersion: 'v1', kind: 'Status', status: 'Success', details: { name: key.name, uid } }
  }

  #delete(of: Resource, key: ObjectKey): void {
    const id = idOf(of, key)
    const previous = this.#objects.get(id)
    if (previous === undefined) return
    this.#objects.delete(id)
    this.#record({ version: ++this.#version, resource: of.plural, key: id, object: undefined, previous })
  }

  #record(entry: Entry): void {
    this.#history.push(entry)
    for (const open of this.#watches) if (open.isStarted) this.#send(open, entry)
  }

  #send({ watch, resource, selects }: OpenWatch, { version, resource: of, object, previous }: Entry): void {
    if (resource !== of) return
    const was = previous !== undefined && selects(previous)
    const is = object !== undefined && selects(object)
    if (object !== undefined && is) {
      watch.push({ type: was ? 'MODIFIED' : 'ADDED', object: structuredClone(object) })
    } else if (was) {
      const last = structuredClone(object ?? previous)
      const metadata = { ...last.metadata, resourceVersion: String(version) }
      watch.push({ type: 'DELETED', object: { ...last, metadata } })
    }
  }

  #mustGet(verb: Verb, of: Resource, key: ObjectKey): Stored<KubeObject> {
    const found = this.#objects.get(idOf(of, key))
    if (found === undefined) throw this.refuse(verb, 404, 'NotFound')
    return found
  }

  #copy<T extends KubeObject>(_of: Resource<T>, object: Stored<KubeObject>): Stored<T> {
    return structuredClone(object) as Stored<T> // filed under the resource that carries the type
  }
}

function idOf(of: Resource, key: ObjectKey): string {
  return `${of.plural} ${formatKey(key)}`
}

function nameOf(object: KubeObject): ObjectKey {
  const { namespace, name = '' } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

function selectorOf({ namespace, labelSelector, fieldSelector }: Selection): (object: KubeObject) => boolean {
  const matchesLabels = labelMatcher(labelSelector ?? '')
  const matchesFields = fieldMatcher(fieldSelector ?? '')
  return (object) =>
    (namespace === undefined || object.metadata.namespace === namespace) &&
    matchesLabels(object) &&
    matchesFields(object)
}

function bookmarkAt(version: number, endsInitial = false) {
  const annotations = endsInitial ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  return { type: 'BOOKMARK' as const, object: { metadata: { resourceVersion: String(version), ...annotations } } }
}

/** RFC 7386 merge, enough for the tests. */
function merge(base: object, patch: object): UnknownObject {
  const result = new Map<string, unknown>(Object.entries(base))
  for (const [field, value] of Object.entries(patch)) {
    const old = result.get(field)
    if (value === null) result.delete(field)
    else result.set(field, isRecord(value) ? merge(isRecord(old) ? old : {}, value) : value)
  }
  return Object.fromEntries(result) as UnknownObject // has the fields of what was merged
}
