/** The client of one reconcile: records its writes, and rejects all requests once the reconcile is abandoned. */
import { type Clock, isApiError, type KubeClient } from '@reeve/kube'
import { type ClientCall, interceptClient } from '../lifecycle/intercept-client.ts'
import type { ObserveWrite } from './observed-write.ts'
import type { WriteChange, WriteRecord } from './reconcile-record.ts'

/** Whether the work of a reconcile is abandoned. */
export interface Abandonment {
  /** Throws the reason when it is. */
  throwIfAbandoned(): void
  /** Aborts every request in progress. */
  readonly abandonedSignal: AbortSignal
}

/** Follows one write: see {@link FenceOptions.track}. */
export type TrackWrite = (call: ClientCall) => (response: unknown) => void

/** What {@link fencedClient} needs from the reconcile. */
export interface FenceOptions {
  readonly clock: Clock
  /** The signal that the reconcile was given; aborts no later than `abandoned`. */
  readonly signal: AbortSignal
  readonly abandoned: Abandonment
  /** Called with each write, failed ones included, but not with dry runs. */
  readonly onWrite: (write: WriteRecord) => void
  /** Compares the states before and after a write. @default changes are not recorded */
  readonly observe?: ObserveWrite | undefined
  /** Called before each write; the function that it returns is called with the response. */
  readonly track: TrackWrite
}

/** Wraps `client` for the time of one reconcile. */
export function fencedClient(client: KubeClient, options: FenceOptions): KubeClient {
  const { clock, signal, abandoned, onWrite, track, observe } = options
  const fence = <O extends { readonly signal?: AbortSignal }>(given: O): O => {
    abandoned.throwIfAbandoned()
    if (given.signal === signal) return given
    const { abandonedSignal } = abandoned
    return { ...given, signal: given.signal ? AbortSignal.any([given.signal, abandonedSignal]) : abandonedSignal }
  }
  return interceptClient(client, {
    watching: fence,
    async around(call, given, send) {
      if (!call.isWrite || call.isDryRun) return send(fence(given))
      const startedMs = clock.now()
      const changesOf = observe?.(call)
      const written = track(call)
      const note = (failure?: string, changes?: readonly WriteChange[]) =>
        onWrite({
          ...recordOf(call),
          durationMs: clock.now() - startedMs,
          ...(failure !== undefined && { failure }),
          ...(changes && { changes }),
        })
      try {
        const answer = await send(fence(given))
        written(answer)
        note(undefined, changesOf?.(answer))
        return answer
      } catch (error) {
        note(failureOf(error))
        throw error
      }
    },
  })
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
