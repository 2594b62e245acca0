/** A client with interceptors around each of its calls: the only way in which the runtime adds to what a client does. */
import type {
  ApplyOptions,
  DeleteOptions,
  GetOptions,
  KubeClient,
  KubeObject,
  ListOptions,
  ObjectKey,
  Patch,
  RawRequest,
  RequestOptions,
  Resource,
  Selection,
  Verb,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from '@reeve/kube'

/** What is known of a call before it is sent. */
export interface ClientCall {
  readonly verb: Verb
  readonly isWrite: boolean
  readonly isDryRun: boolean
  /** Undefined for raw requests, and for questions about kinds. */
  readonly resource: Resource<KubeObject> | undefined
  readonly key: { readonly namespace?: string; readonly name?: string; readonly generateName?: string }
  readonly subresource: string | undefined
}

/** What surrounds calls. */
export interface Interceptor {
  /** Sends a call, with its options or others, and returns the result. */
  around<O extends { readonly signal?: AbortSignal }, R>(
    call: ClientCall,
    options: O,
    send: (options: O) => Promise<R>,
  ): Promise<R>
  /** The options of a watch, which has no end to wait for. @default as they are */
  watching?<O extends { readonly signal?: AbortSignal }>(options: O): O
}

/**
 * Surrounds the calls of a client; the first interceptor is the outermost. A client that has interceptors already gets one
 * longer list, so that a call goes through one client, however many parts of an operator have added something.
 *
 * @example
 * const tracked = interceptClient(client, [leaderFence(leadership), ownWrites(cache)])
 */
export function interceptClient(client: KubeClient, interceptors: readonly Interceptor[]): KubeClient {
  return InterceptedClient.of(client, interceptors)
}

const READ = { isWrite: false, isDryRun: false, subresource: undefined } as const

class InterceptedClient implements KubeClient {
  readonly #client: KubeClient
  readonly #interceptors: readonly Interceptor[]

  private constructor(client: KubeClient, interceptors: readonly Interceptor[]) {
    this.#client = client
    this.#interceptors = interceptors
  }

  static of(client: KubeClient, interceptors: readonly Interceptor[]): KubeClient {
    if (!(client instanceof InterceptedClient)) return new InterceptedClient(client, interceptors)
    return new InterceptedClient(client.#client, [...interceptors, ...client.#interceptors])
  }

  get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}) {
    const call = { ...READ, verb: 'get', resource, key } as const
    return this.#send(call, options, (given) => this.#client.get(resource, key, given))
  }

  list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
    const call = { ...READ, verb: 'list', resource, key: {} } as const
    return this.#send(call, options, (given) => this.#client.list(resource, given))
  }

  listAll<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
    const call = { ...READ, verb: 'list', resource, key: {} } as const
    return this.#send(call, options, (given) => this.#client.listAll(resource, given))
  }

  watch<T extends KubeObject>(resource: Resource<T>, options: WatchOptions = {}) {
    return this.#client.watch(resource, this.#watching(options))
  }

  follow<T extends KubeObject>(
    resource: Resource<T>,
    options: WatchOptions,
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    return this.#client.follow(resource, this.#watching(options), onEvent)
  }

  create<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}) {
    const call = write('create', resource, object.metadata, options)
    return this.#send(call, options, (given) => this.#client.create(resource, object, given))
  }

  update<T extends KubeObject>(resource: Resource<T>, object: T, options: WriteOptions = {}) {
    const call = write('update', resource, object.metadata, options)
    return this.#send(call, options, (given) => this.#client.update(resource, object, given))
  }

  patch<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, patch: Patch, options: WriteOptions = {}) {
    const call = write('patch', resource, key, options)
    return this.#send(call, options, (given) => this.#client.patch(resource, key, patch, given))
  }

  apply<T extends KubeObject>(resource: Resource<T>, object: T, options: ApplyOptions = {}) {
    const call = write('apply', resource, object.metadata, options)
    return this.#send(call, options, (given) => this.#client.apply(resource, object, given))
  }

  delete<T extends KubeObject>(resource: Resource<T>, key: ObjectKey, options: DeleteOptions = {}) {
    const call = write('delete', resource, key, options)
    return this.#send(call, options, (given) => this.#client.delete(resource, key, given))
  }

  deleteCollection<T extends KubeObject>(resource: Resource<T>, options: DeleteOptions & Selection) {
    const { namespace } = options
    const call = write('deletecollection', resource, namespace === undefined ? {} : { namespace }, options)
    return this.#send(call, options, (given) => this.#client.deleteCollection(resource, given))
  }

  raw<R>(request: RawRequest) {
    const isWrite = request.method !== 'GET'
    const call = { ...READ, verb: 'raw', resource: undefined, key: {}, isWrite } as const
    return this.#send(call, request, (given) => this.#client.raw<R>(given))
  }

  resourceFor(object: { readonly apiVersion: string; readonly kind: string }, options: RequestOptions = {}) {
    const call = { ...READ, verb: 'get', resource: undefined, key: {} } as const
    return this.#send(call, options, (given) => this.#client.resourceFor(object, given))
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #watching(options: WatchOptions): WatchOptions {
    return this.#interceptors.reduce((all, { watching }) => watching?.(all) ?? all, options)
  }

  /** Not async: interceptors return promises already. */
  #send<O extends { readonly signal?: AbortSignal }, R>(
    call: ClientCall,
    options: O,
    send: (options: O) => Promise<R>,
    at = 0,
  ): Promise<R> {
    const interceptor = this.#interceptors[at]
    if (interceptor === undefined) return send(options)
    return interceptor.around(call, options, (given) => this.#send(call, given, send, at + 1))
  }
}

function write(
  verb: Verb,
  resource: Resource<KubeObject>,
  key: ClientCall['key'],
  { dryRun = false, subresource }: { readonly dryRun?: boolean; readonly subresource?: string },
): ClientCall {
  return { verb, isWrite: true, isDryRun: dryRun, resource, key, subresource }
}
