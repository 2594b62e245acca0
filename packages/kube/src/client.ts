/** What controllers use to talk to an API server. */
import type { Impersonation } from './impersonation.ts'
import type { KubeList, KubeObject, ObjectKey, Status, Stored, UnknownObject } from './objects.ts'
import type { Resource } from './resource.ts'

/** Options that every request takes. */
export interface RequestOptions {
  /** Ends the request, and any retries, as soon as it aborts. */
  readonly signal?: AbortSignal
  /**
   * Deadline for the whole call including retries; `Infinity` for none.
   * @default 30_000 (per page in `listAll`; watches have none)
   */
  readonly timeoutMs?: number
  /** Act as somebody else, as far as RBAC allows it; instead of whom the client acts as. */
  readonly impersonate?: Impersonation
}

/** Options of requests that write. */
export interface WriteOptions extends RequestOptions {
  /** Run every check and admission step, store nothing. @default false */
  readonly dryRun?: boolean
  /** Who owns the written fields. @default the client's own field manager */
  readonly fieldManager?: string
  /** What the server does with unknown or duplicate fields. @default the server's choice, `Warn` */
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
  /** Ask for metadata only: the object arrives without spec and status. @default false */
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
  /** Objects per page. @default 500; 0 asks for everything at once */
  readonly limit?: number
  /** Token of the previous page. */
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan'
  /** Ask for metadata only: objects arrive without spec and status. @default false */
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
  /** The server refuses with a conflict when the live object differs. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
}

/** A patch and how to read it. For server-side apply use {@link KubeClient.apply}. */
export type Patch =
  | { readonly type: 'json'; readonly patch: readonly JsonPatchOperation[] }
  | { readonly type: 'merge'; readonly patch: Readonly<Record<string, unknown>> }
  | { readonly type: 'strategic'; readonly patch: Readonly<Record<string, unknown>> }

/** One step of an RFC 6902 patch. */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly from?: string
  readonly value?: unknown
}

/** A raw request for what has no verb here: a subresource such as `token`, a review, a non-resource path. */
export interface RawRequest extends RequestOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Absolute path, query included. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Typed access to an API server. All methods reject with `ApiError` when the server refuses, and with the
 * signal's reason when aborted.
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
  watch<T extends KubeObject>(resource: Resource<T>, options?: WatchOptions): AsyncIterable<WatchEvent<T>>
  create<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  update<T extends KubeObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<Stored<T>>
  patch<T extends KubeObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<Stored<T>>
  /** Server-side apply: creates the object or merges the fields given; fields no longer given are removed. */
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
