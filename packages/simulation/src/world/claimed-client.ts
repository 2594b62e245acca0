/** A client that acts on the cluster directly, without faults, in the name of someone. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import { type Clock, createClient, type KubeClient, type Transport } from '@reeve/kube'
import { withoutAmbient } from '../ambient/ambient-source.ts'
import type { PlainObject } from '../operator-under-test.ts'
import type { Actor, Ledger } from './ledger.ts'
import { storedHead } from './object-head.ts'
import { requestFacts } from './request-facts.ts'

/** What such a client needs. */
export interface ClaimedClientOptions {
  readonly cluster: EmbeddedCluster
  readonly clock: Clock
  readonly ledger: Ledger
  readonly actor: Actor
  /** Also the field manager. */
  readonly userAgent: string
}

/** Every write is noted in the ledger as the actor's. */
export function claimedClient({ cluster, clock, ledger, actor, userAgent }: ClaimedClientOptions): KubeClient {
  const transport: Transport = {
    send: async (request) => {
      const response = await withoutAmbient(() => cluster.handle(request))
      if (request.method === 'GET') return response
      const chunks: Uint8Array[] = []
      for await (const chunk of response.body) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      ledger.claim(actor, requestFacts(request), response.status, parsed(content))
      return { ...response, body: whole(content) }
    },
    close: async () => undefined,
  }
  return createClient({ transport, clock, random: () => 0.5, userAgent, fieldManager: userAgent })
}

/** A response as an object; of one that the server stored, only its metadata; of what is none, nothing can be said. */
export function parsed(content: Uint8Array): PlainObject {
  const metadata = storedHead(content)
  if (metadata !== undefined) return { metadata }
  const text = Buffer.from(content).toString('utf8')
  return text.startsWith('{') ? (JSON.parse(text) as PlainObject) : {}
}

async function* whole(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}
