/** The same fence as `fenceWrites`, one layer deeper: around every single request on the wire. */
import type { Transport } from '@reeve/kube'
import { NotLeaderError } from './election-error.ts'
import type { Leadership } from './leadership.ts'

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
