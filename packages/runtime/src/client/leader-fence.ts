/** Keeps a process that does not lead from writing. */
import type { KubeClient, RawRequest } from '@reeve/kube'
import type { Leadership } from '../election/leadership.ts'
import { type ClientCall, type Interceptor, interceptClient } from './intercept.ts'

/**
 * A client that writes only while leading; reads and dry runs always pass.
 *
 * *Guarantees*: a write that begins when this process does not lead rejects with `NotLeaderError` and sends nothing;
 * one that is in progress when leadership ends is aborted with the same error; the election waits for writes in
 * progress before it gives the lease back.
 *
 * *Caveat*: the server may still process an aborted request that was already sent; and after a long pause of the process, a
 * retry inside a call may be sent before the timer that ends the term.
 *
 * @example
 * const client = fenceWrites(plainClient, elector.leadership)
 * await client.apply(Deployments, deployment) // NotLeaderError once the lease is lost
 */
export function fenceWrites(client: KubeClient, leadership: Leadership): KubeClient {
  return interceptClient(client, [leaderFence(leadership)])
}

/** The interceptor of {@link fenceWrites}. */
export function leaderFence(leadership: Leadership): Interceptor {
  return {
    async around(call, options, send) {
      if (!call.isWrite || call.isDryRun) return send(options)
      const permit = leadership.permit(describe(call, options), options.signal)
      try {
        return await send({ ...options, signal: permit.signal })
      } finally {
        permit.done()
      }
    },
  }
}

function describe({ verb, resource, key }: ClientCall, options: object): string {
  // Only raw requests have no resource.
  if (resource === undefined) return `${(options as RawRequest).method} ${pathOf(options as RawRequest)}`
  if (verb === 'deletecollection') return `delete all of ${resource.kind}`
  const namespace = key.namespace === undefined ? '' : `${key.namespace}/`
  return `${verb} ${resource.kind} ${namespace}${key.name ?? key.generateName ?? ''}`.trimEnd()
}

/** The query may carry anything, so it stays out of errors. */
function pathOf(request: RawRequest): string {
  return request.path.split('?', 1)[0] ?? ''
}
