/** The interface of controllers to an API server. */
import type { Impersonation } from './impersonation.ts'
import type { KubeList, KubeObject, ObjectKey, Status, Stored, UnknownObject } from './objects.ts'
import type { Resource } from './resource.ts'

/** Options of every request. */
export interface RequestOptions {
  /** Aborts the request and any retries. */
  readonly signal?: AbortSignal
  /**
   * Deadline for the whole call including retries; `Infinity` for none.
   * @default 30_000 (per page in `listAll`; watches have none)
   */
  readonly timeoutMs?: number
  /** Impersonate another identity, if RBAC allows it; overrides that of the client. */
  readonly impersonate?: Impersonation
}

/** Options of writes. */
export interface WriteOptions extends RequestOptions {
  /** Validate and admit the object without storing it. @default false */
  readonly dryRun?: boolean
  /** The manager of the written fields. @default the client's own field manager */
  readonly fieldManager?: string
  /** How the server treats unknown or duplicate fields. @default the server's default, `Warn` */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict'
  /** Write to `status`, `scale` or another subresource instead of the object itself. */
  readonly subresource?: string
}

/** Options of {@link KubeClient.apply}. */
export interface ApplyOptions extends WriteOptions {
  /** Take fields over from other managers instead of failing with a conflict. @default false */
  readonly force?: boolean
}

/** Options of {@link KubeClient.get}. */
export interface GetOptions extends RequestOptions {
  readonly resourceVersion?: string
  readonly subresource?: string
  /** Request metadata only: the object has no spec and status. @default false */
  readonly metadataOnly?: boolean
}

/** Selects objects of a collection. */
export interface Selection {
  /** Only this namespace; absent means all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** Options of {@link KubeClient.list}. */
export interface ListOptions extends RequestOptions, Selection {
  /** Objects per page. @default 500; 0 requests everything in one page */
  readonly limit?: number
  /** Token of the previous page. */
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Request metadata only: objects have no spec and status. @default false */
  readonly metadataOnly?: boolean
}

/** Options of {@link KubeClient.watch}. */
export interface WatchOptions extends Selection {
  readonly signal?: AbortSignal
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  /** After this the server ends the stream cleanly. */
  readonly timeoutSeconds?: number
  readonly metadataOnly?: boolean
}

/** One element of a watch stream. An `ERROR` is thrown as an `ApiError` instead of being yielded. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  | {
      readonly type: 'BOOKMARK'
      readonly object: {
        readonly metadata: {
          readonly resourceVersion: string
          readonly annotations?: Readonly<Record<string, string>>
        }
      }
    }

/** Options of {@link KubeClient.delete}. */
export interface DeleteOptions extends RequestOptions {
  readonly dryRun?: boolean
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly gracePeriodSeconds?: number
  /** The server responds with a conflict when the live object differs. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A patch and its type. For server-side apply use {@link KubeClient.apply}. */
export type Patch =
  | { readonly type: 'json'; readonly patch: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly type: 'strategic'; readonly patch: Readonly<Record<string, unknown>> }

/** One operation of an RFC 6902 patch. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** A raw request for anything without its own method: a subresource such as `token`, a review, a non-resource path. */
export interface RawRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path, including the query. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Typed access to an API server. All methods reject with `ApiError` when the server responds with an error, and with
 * the signal's reason when aborted.
 *
 * @example
 * const pod = await client.get(Pods, { namespace: 'default', name: 'web' })
 * for await (const event of client.watch(Pods, { namespace: 'default' })) console.log(event.type)
 */
export interface KubeClient {
  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options?: GetOptions): Promise<Stored<T>>
  /** One page; follow `metadata.continue`, or use {@link KubeClient.listAll}. */
  list<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>
  /** Every page of one consistent snapshot. */
  listAll<T extends KubeObject>(resource: Resource<T>, options?: ListOptions): Promise<KubeList<T>>
  /** The events of a collection, until the server ends the stream. */
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>
  /**
   * Calls `onEvent` with each event as soon as it has arrived, and resolves when the server ends the stream. The same as
   * {@link KubeClient.watch}, for a reader that never needs the stream to wait. What `onEvent` throws ends it.
   */
  follow<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void>
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<Stored<T>>
  /** Server-side apply: creates the object or merges the given fields; fields that are no longer given are removed. */
  apply<T extends KubeObject>(resource: Resource<T>, object: T, options?: ApplyOptions): Promise<Stored<T>>
  delete<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<Status | Stored<T>>
  deleteCollection<T extends KubeObject>(resource: Resource<T>, options: DeleteOptions & Selection): Promise<void>
  raw<R = unknown>(request: RawRequest): Promise<R>
  /** Finds the resource of a kind by discovery, for objects whose type is only known at run time. */
  resourceFor(
    object: { readonly apiVersion: string; readonly kind: string },
    options?: RequestOptions,
  ): Promise<Resource<UnknownObject>>
  /** Closes the transport. */
  close(): Promise<void>
}
