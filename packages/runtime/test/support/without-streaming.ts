/** A client of a server that cannot stream its initial state. */
import type { KubeClient } from '@reeve/kube'
import { interceptClient } from '../../src/client/intercept.ts'

/** Streams are requested in a way that every server rejects as invalid. */
export function withoutStreaming(client: KubeClient): KubeClient {
  return interceptClient(client, [
    {
      around: (_call, options, send) => send(options),
      watching: (options) => ('sendInitialEvents' in options ? { ...options, resourceVersionMatch: 'Exact' } : options),
    },
  ])
}
