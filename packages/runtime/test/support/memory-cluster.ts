/** A few verbs of an API server in memory, for unit tests that need conflicts, lost responses and slow requests. */
import type { Clock } from '@reeve/http'
import {
  ApiError,
  type JsonPatchOperation,
  type KubeClient,
  type KubeObject,
  type ObjectKey,
  type Patch,
  type RequestOptions,
  type RequestTarget,
  type Resource,
  type Stored,
  type Verb,
} from '@reeve/kube'
import { applyPatch } from 'rfc6902'
import { labelMatcher } from '../../src/cache/selector.ts'

/** A request as the faults of a test see it. */
export interface Call {
  readonly client: string
  readonly verb: Verb
  readonly resource: string
  readonly name: string
  readonly dryRun: boolean
}

/** A write that took effect. */
export interface CommittedWrite extends Call {
  readonly atMs: number
}

/** What a test puts around requests. Waiting delays them, throwing fails them. */
export interface Faults {
  /** Before the server acts: a failure here means nothing happened. */
  before?(call: Call): Promise<void> | void
  /** After the server acted: a failure here means that the response was lost. */
  after?(call: Call): Promise<void> | void
}

type Mutable = Record<string, unknown> & { metadata: Record<string, unknown> }

/**
 * Stores objects with resourceVersions. An aborted request is abandoned by the client only: what the server has
 * received it still carries out, as in reality.
 */
export class MemoryCluster {
  readonly #objects = new Map<string, Stored<KubeObject>>()
  readonly #clock: Clock
  #revision = 0
  /** Every committed write that is not a dry run, in order. */
  readonly writes: CommittedWrite[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The object now, or undefined. */
  peek<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Stored<T> | undefined {
    return this.#objects.get(idOf(resource, key)) as Stored<T> | undefined // ids are unique per kind
  }

  /** Every object of a kind. */
  all<T extends KubeObject>(resource: Resource<T>): Stored<T>[] {
    const prefix = `${resource.plural}.${resource.group}/`
    const found = [...this.#objects].filter(([id]) => id.startsWith(prefix)).map(([, object]) => object)
    return found as Stored<T>[] // ids are unique per kind
  }

  /** Deletes without an event or a check. */
  remove<T extends KubeObject>(resource: Resource<T>, key: ObjectKey): void {
    this.#objects.delete(idOf(resource, key))
  }

  /** A client whose requests pass through `faults`. */
  client(name = 'test', faults: Faults = {}): KubeClient {
    const send = <R>(
      resource: Resource<KubeObject>,
      verb: Verb,
      key: Partial<ObjectKey>,
      options: (RequestOptions & { readonly dryRun?: boolean }) | undefined,
      act: () => R,
    ): Promise<R> => {
      const call = { client: name, verb, resource: resource.plural, name: key.name ?? '', dryRun: !!options?.dryRun }
      return abandonable(options?.signal, async () => {
        await faults.before?.(call)
        const result = act()
        if (verb !== 'get' && verb !== 'list' && !call.dryRun) this.writes.push({ ...call, atMs: this.#clock.now() })
        await faults.after?.(call)
        return result
      })
    }
    const unsupported = () => {
      throw new Error('not supported by the memory cluster')
    }
    return {
      get: (resource, key, options) => send(resource, 'get', key, options, () => this.#mustFind('get', resource, key)),
      create: (resource, object, options) =>
        send(resource, 'create', object.metadata, options, () => this.#create(resource, object)),
      update: (resource, object, options) =>
        send(resource, 'update', object.metadata, options, () => {
          const live = this.#mustFind('update', resource, keyOf(object))
          checkVersion(resource, live, object.metadata.resourceVersion)
          return this.#store(resource, { ...object, metadata: { ...live.metadata, ...object.metadata } })
        }),
      patch: (resource, key, patch, options) =>
        send(resource, 'patch', key, options, () => {
          const live = this.#mustFind('patch', resource, key)
          const changed = patched(resource, live, patch)
          checkVersion(resource, live, changed.metadata.resourceVersion)
          return this.#store(resource, changed)
        }),
      delete: (resource, key, options) =>
        send(resource, 'delete', key, options, () => {
          const live = this.#mustFind('delete', resource, key)
          this.#objects.delete(idOf(resource, key))
          return live
        }),
      apply: unsupported,
      list: unsupported,
      listAll: (resource, options) =>
        send(resource, 'list', {}, options, () => {
          const selects = labelMatcher(options?.labelSelector ?? '')
          const items = this.all(resource).filter(
            (object) =>
              selects(object) && (options?.namespace ?? object.metadata.namespace) === object.metadata.namespace,
          )
          return {
            apiVersion: 'v1',
            kind: `${resource.kind}List`,
            metadata: { resourceVersion: String(this.#revision) },
            items,
          }
        }),
      watch: unsupported,
      follow: unsupported,
      deleteCollection: unsupported,
      raw: unsupported,
      resourceFor: unsupported,
      close: async () => undefined,
    }
  }

  #mustFind<T extends KubeObject>(verb: Verb, resource: Resource<T>, key: ObjectKey): Stored<T> {
    const found = this.peek(resource, key)
    if (found === undefined) throw new ApiError(target(verb, resource, key), 404, failure('NotFound'))
    return found
  }

  #create<T extends KubeObject>(resource: Resource<T>, object: T): Stored<T> {
    const key = keyOf(object)
    if (this.peek(resource, key) !== undefined) {
      throw new ApiError(target('create', resource, key), 409, failure('AlreadyExists'))
    }
    const uid = `uid-${this.#revision + 1}`
    const creationTimestamp = new Date(this.#clock.now()).toISOString()
    return this.#store(resource, { ...object, metadata: { ...object.metadata, uid, creationTimestamp } })
  }

  #store<T extends KubeObject>(resource: Resource<T>, object: T): Stored<T> {
    this.#revision++
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) }
    const stored = structuredClone({ ...object, metadata }) as Stored<T> // create and update fill what is missing
    this.#objects.set(idOf(resource, keyOf(stored)), stored)
    const isGone = stored.metadata.deletionTimestamp !== undefined && !stored.metadata.finalizers?.length
    if (isGone) this.#objects.delete(idOf(resource, keyOf(stored)))
    return stored
  }
}

function patched<T extends KubeObject>(resource: Resource<T>, live: Stored<T>, patch: Patch): Stored<T> {
  const copy = structuredClone(live) as unknown as Mutable // a private copy may be changed
  if (patch.type === 'json') {
    const problem = applyPatch(copy, patch.patch as JsonPatchOperation[] as never).find((result) => result !== null)
    if (problem) throw new ApiError(target('patch', resource, keyOf(live)), 422, failure('Invalid'))
  } else {
    merge(copy, patch.patch)
  }
  return copy as unknown as Stored<T>
}

function merge(into: Record<string, unknown>, patch: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key]
    else if (typeof value === 'object' && !Array.isArray(value)) {
      into[key] = { ...(into[key] as object | undefined) }
      merge(into[key] as Record<string, unknown>, value as Record<string, unknown>)
    } else into[key] = value
  }
}

/** The caller stops waiting when its signal aborts; `work` continues. */
function abandonable<R>(signal: AbortSignal | undefined, work: () => Promise<R>): Promise<R> {
  if (signal === undefined) return work()
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function checkVersion(resource: Resource<KubeObject>, live: Stored<KubeObject>, given: string | undefined): void {
  if (given === undefined || given === live.metadata.resourceVersion) return
  throw new ApiError(target('update', resource, keyOf(live)), 409, failure('Conflict'))
}

function failure(reason: string) {
  return { body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', reason } as const }
}

function target(verb: Verb, resource: Resource<KubeObject>, key: ObjectKey): RequestTarget {
  return { verb, group: resource.group, resource: resource.plural, ...key }
}

function keyOf(object: KubeObject): ObjectKey {
  const { name = '', namespace } = object.metadata
  return namespace === undefined ? { name } : { namespace, name }
}

function idOf(resource: Resource<KubeObject>, key: ObjectKey): string {
  return `${resource.plural}.${resource.group}/${key.namespace ?? ''}/${key.name}`
}
