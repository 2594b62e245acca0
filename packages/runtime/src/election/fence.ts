/** Keeps a process that does not lead from writing: calls of a client, and every single request below them. */
import type { KubeClient, RawRequest, Transport } from '@reeve/kube'
import { type ClientCall, interceptClient } from '../lifecycle/intercept-client.ts'
import { NotLeaderError } from './election-error.ts'
import type { Leadership } from './leadership.ts'

/**
 * A client that writes only while leading; reads and dry runs always pass.
 *
 * *Guarantees*: a write that begins when this process does not lead rejects with `NotLeaderError` and sends nothing;
 * one that is in progress when leadership ends is aborted with the same error; the election waits for writes in
 * progress before it gives the lease back.
 *
 * *Caveat*: the server may still process an aborted request that was already sent.
 *
 * @example
 * const client = fenceWrites(plainClient, elector.leadership)
 * await client.apply(Deployments, deployment) // NotLeaderError once the lease is lost
 */
export function fenceWrites(client: KubeClient, leadership: Leadership): KubeClient {
  return interceptClient(client, {
    async around(call, options, send) {
      if (!call.isWrite || call.isDryRun) return send(options)
      const permit = leadership.permit(describe(call, options), options.signal)
      try {
        return await send({ ...options, signal: permit.signal })
      } finally {
        permit.done()
      }
    },
  })
}

/**
 * A transport that sends only reads while this process does not lead.
 *
 * A client retries inside one call. After a long pause of the process its retry may wake before the timer that ends
 * the term; here the deadline is checked again for each try. Use it under a client for the strictest fence, and
 * wrap that in `fenceWrites`, which waits for writes in progress and names the object in errors.
 *
 * @example
 * const writer = fenceWrites(createClient({ transport: fenceTransport(transport, leadership) }), leadership)
 */
export function fenceTransport(transport: Transport, leadership: Leadership): Transport {
  return {
    send: async (request) => {
      const isHarmless = request.method === 'GET' || /[?&]dryRun=All(&|$)/.test(request.path)
      if (!isHarmless && leadership.remainingMs <= 0) {
        throw new NotLeaderError(`${request.method} ${request.path.split('?', 1)[0]}`)
      }
      return transport.send(request)
    },
    close: () => transport.close(),
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
