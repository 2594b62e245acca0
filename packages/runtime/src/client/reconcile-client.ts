/** What surrounds the calls of one reconcile: its end when it is abandoned, and the record of its writes. */
import type { Clock } from '@reeve/http'
import { isApiError, type KubeObject, type ObjectKey, type Resource, type Verb } from '@reeve/kube'
import type { Informer } from '../cache/informer.ts'
import type { ClientCall, Interceptor } from './intercept.ts'

/** One field that a write changed. A member is absent where the field is. */
export interface WriteChange {
  /** Such as `spec.template.spec.containers[name=web].image`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** One write that a reconcile made. Never contains the object itself: it may be a Secret. */
export interface WriteRecord {
  readonly verb: Verb
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  readonly durationMs: number
  /** Why it failed, such as `Conflict`; absent when it succeeded. */
  readonly failure?: string
  /** What it changed, without secrets; only while the operator is observed. */
  readonly changes?: readonly WriteChange[]
}

/** A write that succeeded, with both states of its object. */
export interface ObservedWrite {
  readonly verb: Verb
  readonly resource: Resource
  readonly subresource: string | undefined
  /** The state in the cache before the write; `undefined` when the object did not exist. */
  readonly before: KubeObject | undefined
  /** The response of the server; `undefined` when the object was deleted. */
  readonly after: KubeObject | undefined
}

/**
 * Returns what a write changed, as it is kept in the record of the reconcile. Nothing it returns may be secret: the
 * objects may be Secrets. An exception is logged, and the record has no changes then.
 */
export type DescribeWrite = (write: ObservedWrite) => readonly WriteChange[]

/** Called before a write; the function that it returns is called with the response. */
export type FollowWrite<Result> = (call: ClientCall) => (response: unknown) => Result

/** Whether the work of a reconcile is abandoned. */
export interface Abandonment {
  /** The signal that the reconcile was given; aborts no later than `abandonedSignal`. */
  readonly signal: AbortSignal
  /** Throws the reason when it is. */
  throwIfAbandoned(): void
  /** Aborts every request in progress. */
  readonly abandonedSignal: AbortSignal
}

/** Rejects all calls once the reconcile is abandoned, and aborts those in progress. */
export function untilAbandoned(work: Abandonment): Interceptor {
  const limited = <O extends { readonly signal?: AbortSignal }>(options: O): O => {
    work.throwIfAbandoned()
    const { signal } = options
    if (signal === work.signal) return options
    const { abandonedSignal } = work
    return { ...options, signal: signal ? AbortSignal.any([signal, abandonedSignal]) : abandonedSignal }
  }
  return {
    watching: limited,
    // Async, so that an exception is a rejection like any other.
    around: async (_call, options, send) => send(limited(options)),
  }
}

/** What is done with the writes of a reconcile. */
export interface WriteListener {
  readonly clock: Clock
  /** Called with each write, failed ones included, but not with dry runs. */
  readonly onWrite: (write: WriteRecord) => void
  /** Compares the states before and after a write. @default changes are not recorded */
  readonly changesOf?: FollowWrite<readonly WriteChange[] | undefined> | undefined
  /** Follows each write that succeeds, before the reconcile continues. */
  readonly follow: FollowWrite<void>
}

/** Records writes. */
export function recordWrites({ clock, onWrite, changesOf, follow }: WriteListener): Interceptor {
  return {
    async around(call, options, send) {
      if (!call.isWrite || call.isDryRun) return send(options)
      const startedMs = clock.now()
      const compare = changesOf?.(call)
      const followed = follow(call)
      const note = (rest: Pick<WriteRecord, 'failure' | 'changes'>) =>
        onWrite({ ...recordOf(call), durationMs: clock.now() - startedMs, ...rest })
      try {
        const response = await send(options)
        followed(response)
        const changes = compare?.(response)
        note(changes === undefined ? {} : { changes })
        return response
      } catch (error) {
        note({ failure: failureOf(error) })
        throw error
      }
    },
  }
}

function recordOf({ verb, resource, key, subresource }: ClientCall): Omit<WriteRecord, 'durationMs' | 'failure'> {
  const name = key.name ?? key.generateName
  return {
    verb,
    kind: resource?.kind ?? '',
    ...(key.namespace !== undefined && { namespace: key.namespace }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  }
}

function failureOf(error: unknown): string {
  if (isApiError(error)) return error.reason
  return error instanceof Error ? error.name : 'Unknown'
}

/** Compares the cached state before a write with the response: only while somebody observes the operator. */
export function compareStates(
  describe: DescribeWrite,
  informersOf: (resource: Resource) => readonly Informer<KubeObject>[],
  onError: (error: unknown) => void,
): FollowWrite<readonly WriteChange[] | undefined> {
  return ({ verb, resource, key, subresource }) => {
    if (resource === undefined || verb === 'deletecollection') return () => undefined
    const informers = informersOf(resource).filter(({ metadataOnly }) => !metadataOnly)
    const before = verb === 'create' ? undefined : cachedObject(informers, key)
    const isNew = verb === 'create' || (verb === 'apply' && informers.length > 0)
    // Without the state before, a difference would show fields that did not change.
    if (before === undefined && !isNew) return () => undefined
    return (response) => {
      // A deletion returns the last state, or a Status; every other write returns the object.
      const after = verb === 'delete' ? undefined : (response as KubeObject)
      // Subresources such as `scale` return a kind of their own.
      if (after !== undefined && after.kind !== resource.kind) return undefined
      try {
        return describe({ verb, resource, subresource, before, after })
      } catch (error) {
        onError(error)
        return undefined
      }
    }
  }
}

/** The state in the first informer that has the object. */
export function cachedObject(
  informers: readonly Informer<KubeObject>[],
  key: ClientCall['key'],
): KubeObject | undefined {
  const { namespace, name } = key
  if (name === undefined) return undefined
  const wanted: ObjectKey = namespace === undefined ? { name } : { namespace, name }
  for (const informer of informers) {
    const object = informer.get(wanted)
    if (object !== undefined) return object
  }
  return undefined
}
