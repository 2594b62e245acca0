/** Keeps a process that does not lead from writing. */
import type { KubeClient, KubeObject, RawRequest, RequestOptions, Resource } from '@reeve/kube'
import type { Leadership } from './leadership.ts'

/**
 * A client that writes only while `leadership` holds; reads and dry runs always pass.
 *
 * *Guarantees*: a write that begins when this process does not lead rejects with `NotLeaderError` and sends nothing;
 * one that is under way when leadership ends is cut off with the same error; the election waits for writes under way
 * before it gives the lease back.
 *
 * *Caveat*: a request that was cut off may still be carried out by the server, if it was already on its way.
 *
 * @example
 * const client = fenceWrites(plainClient, elector.leadership)
 * await client.apply(Deployments, deployment) // NotLeaderError once the lease is lost
 */
export function fenceWrites(client: KubeClient, leadership: Leadership): KubeClient {
  const fence = async <O extends RequestOptions & { readonly dryRun?: boolean }, R>(
    what: string,
    options: O,
    write: (options: O) => Promise<R>,
  ): Promise<R> => {
    if (options.dryRun === true) return write(options)
    const permit = leadership.permit(what)
    try {
      const signal = options.signal === undefined ? permit.signal : AbortSignal.any([options.signal, permit.signal])
      return await write({ ...options, signal })
    } finally {
      permit.done()
    }
  }
  return {
    get: (resource, key, options) => client.get(resource, key, options),
    list: (resource, options) => client.list(resource, options),
    listAll: (resource, options) => client.listAll(resource, options),
    watch: (resource, options) => client.watch(resource, options),
    create: (resource, object, options = {}) =>
      fence(describe('create', resource, object.metadata), options, (fenced) =>
        client.create(resource, object, fenced),
      ),
    update: (resource, object, options = {}) =>
      fence(describe('update', resource, object.metadata), options, (fenced) =>
        client.update(resource, object, fenced),
      ),
    patch: (resource, key, patch, options = {}) =>
      fence(describe('patch', resource, key), options, (fenced) => client.patch(resource, key, patch, fenced)),
    apply: (resource, object, options = {}) =>
      fence(describe('apply', resource, object.metadata), options, (fenced) => client.apply(resource, object, fenced)),
    delete: (resource, key, options = {}) =>
      fence(describe('delete', resource, key), options, (fenced) => client.delete(resource, key, fenced)),
    deleteCollection: (resource, options) =>
      fence(describe('delete all of', resource, {}), options, (fenced) => client.deleteCollection(resource, fenced)),
    raw: <R>(request: RawRequest) =>
      request.method === 'GET'
        ? client.raw<R>(request)
        : fence(`${request.method} ${pathOf(request)}`, request, (fenced) => client.raw<R>(fenced)),
    resourceFor: (object, options) => client.resourceFor(object, options),
    close: () => client.close(),
  }
}

function describe(
  verb: string,
  resource: Resource<KubeObject>,
  key: { readonly namespace?: string; readonly name?: string; readonly generateName?: string },
): string {
  const namespace = key.namespace === undefined ? '' : `${key.namespace}/`
  return `${verb} ${resource.kind} ${namespace}${key.name ?? key.generateName ?? ''}`.trimEnd()
}

/** The query may carry anything, so it stays out of errors. */
function pathOf(request: RawRequest): string {
  return request.path.split('?', 1)[0] ?? ''
}
