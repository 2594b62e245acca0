/** A client with something around each of its calls: what fences, tracks or records writes is built on it. */
import type { KubeClient, KubeObject, RawRequest, Resource, Verb } from '@reeve/kube'

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

/** What wraps calls. */
export interface ClientInterceptor {
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
 * Wraps a client.
 *
 * @example
 * const counted = interceptClient(client, { around: (call, options, send) => { count(call); return send(options) } })
 */
export function interceptClient(client: KubeClient, { around, watching }: ClientInterceptor): KubeClient {
  const call = (
    verb: Verb,
    resource: Resource<KubeObject> | undefined,
    key: ClientCall['key'],
    options: { readonly dryRun?: boolean; readonly subresource?: string },
    isWrite = true,
  ): ClientCall => ({
    verb,
    isWrite,
    isDryRun: options.dryRun === true,
    // Only its names are used.
    resource,
    key,
    subresource: options.subresource,
  })
  // Not async: `around` returns a promise already, and several clients are wrapped around each other.
  return {
    get: (of, key, given = {}) => around(call('get', of, key, {}, false), given, (o) => client.get(of, key, o)),
    list: (of, given = {}) => around(call('list', of, {}, {}, false), given, (o) => client.list(of, o)),
    listAll: (of, given = {}) => around(call('list', of, {}, {}, false), given, (o) => client.listAll(of, o)),
    watch: (of, given = {}) => client.watch(of, watching?.(given) ?? given),
    create: (of, object, given = {}) =>
      around(call('create', of, object.metadata, given), given, (o) => client.create(of, object, o)),
    update: (of, object, given = {}) =>
      around(call('update', of, object.metadata, given), given, (o) => client.update(of, object, o)),
    patch: (of, key, patch, given = {}) =>
      around(call('patch', of, key, given), given, (o) => client.patch(of, key, patch, o)),
    apply: (of, object, given = {}) =>
      around(call('apply', of, object.metadata, given), given, (o) => client.apply(of, object, o)),
    delete: (of, key, given = {}) => around(call('delete', of, key, given), given, (o) => client.delete(of, key, o)),
    deleteCollection: (of, given) =>
      around(
        call('deletecollection', of, { ...(given.namespace && { namespace: given.namespace }) }, given),
        given,
        (o) => client.deleteCollection(of, o),
      ),
    raw: <R>(request: RawRequest) =>
      around(call('raw', undefined, {}, {}, request.method !== 'GET'), request, (o) => client.raw<R>(o)),
    resourceFor: (object, given = {}) =>
      around(call('get', undefined, {}, {}, false), given, (o) => client.resourceFor(object, o)),
    close: () => client.close(),
  }
}
