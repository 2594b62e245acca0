/** The client of one reconcile: notes what it writes, and refuses everything once the reconcile is abandoned. */
import {
  type Clock,
  isApiError,
  type KubeClient,
  type KubeObject,
  type RawRequest,
  type RequestOptions,
  type Resource,
  type Verb,
} from '@reeve/kube'
import type { WriteRecord } from './reconcile-record.ts'

/** What {@link fencedClient} needs to know of the reconcile. */
export interface FenceOptions {
  readonly clock: Clock
  /** The signal that the reconcile was given; aborts no later than `abandoned`. */
  readonly signal: AbortSignal
  /** Ends every request under way and refuses new ones. */
  readonly abandoned: AbortSignal
  /** Told of each write, failed ones included, but no dry runs. */
  readonly onWrite: (write: WriteRecord) => void
}

/** Wraps `client` for the time of one reconcile. */
export function fencedClient(client: KubeClient, options: FenceOptions): KubeClient {
  const { clock, signal, abandoned, onWrite } = options

  const fence = <O extends { readonly signal?: AbortSignal }>(given: O): O => {
    abandoned.throwIfAborted()
    if (given.signal === signal) return given
    return { ...given, signal: given.signal === undefined ? abandoned : AbortSignal.any([given.signal, abandoned]) }
  }

  const write = async <R>(
    verb: Verb,
    target: Omit<WriteRecord, 'verb' | 'durationMs' | 'failure'>,
    isDryRun: boolean | undefined,
    send: () => Promise<R>,
  ): Promise<R> => {
    const startedMs = clock.now()
    const note = (failure?: string) => {
      if (isDryRun === true) return
      onWrite({ verb, ...target, durationMs: clock.now() - startedMs, ...(failure !== undefined && { failure }) })
    }
    try {
      const answer = await send()
      note()
      return answer
    } catch (error) {
      note(failureOf(error))
      throw error
    }
  }

  return {
    get: async (of, key, given = {}) => client.get(of, key, fence(given)),
    list: async (of, given = {}) => client.list(of, fence(given)),
    listAll: async (of, given = {}) => client.listAll(of, fence(given)),
    watch: (of, given = {}) => client.watch(of, fence(given)),
    create: async (of, object, given = {}) =>
      write('create', targetOf(of, object.metadata, given), given.dryRun, () =>
        client.create(of, object, fence(given)),
      ),
    update: async (of, object, given = {}) =>
      write('update', targetOf(of, object.metadata, given), given.dryRun, () =>
        client.update(of, object, fence(given)),
      ),
    patch: async (of, key, patch, given = {}) =>
      write('patch', targetOf(of, key, given), given.dryRun, () => client.patch(of, key, patch, fence(given))),
    apply: async (of, object, given = {}) =>
      write('apply', targetOf(of, object.metadata, given), given.dryRun, () => client.apply(of, object, fence(given))),
    delete: async (of, key, given = {}) =>
      write('delete', targetOf(of, key, given), given.dryRun, () => client.delete(of, key, fence(given))),
    deleteCollection: async (of, given) =>
      write('deletecollection', targetOf(of, given, given), given.dryRun, () =>
        client.deleteCollection(of, fence(given)),
      ),
    raw: async <R>(request: RawRequest) => {
      const send = () => client.raw<R>(fence(request))
      return request.method === 'GET' ? send() : write('raw', { kind: '' }, false, send)
    },
    resourceFor: async (object, given = {}) => client.resourceFor(object, fence(given)),
    close: () => client.close(),
  }
}

function targetOf(
  of: Resource<KubeObject>,
  key: { readonly namespace?: string; readonly name?: string; readonly generateName?: string },
  options: RequestOptions & { readonly subresource?: string },
): Omit<WriteRecord, 'verb' | 'durationMs' | 'failure'> {
  const name = key.name ?? key.generateName
  return {
    kind: of.kind,
    ...(key.namespace !== undefined && { namespace: key.namespace }),
    ...(name !== undefined && { name }),
    ...(options.subresource !== undefined && { subresource: options.subresource }),
  }
}

function failureOf(error: unknown): string {
  if (isApiError(error)) return error.reason
  return error instanceof Error ? error.name : 'Unknown'
}
