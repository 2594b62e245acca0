/** Clients that act on the cluster directly, without faults, in the name of someone. */
import type { EmbeddedCluster } from '@reeve/embedded-cluster'
import type { Clock, Transport } from '@reeve/http'
import { apiVersionOf, createClient, isConflict, isNotFound, type KubeClient, type KubeObject } from '@reeve/kube'
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

/** Every write is recorded in the ledger as the actor's. */
export function claimedClient({ cluster, clock, ledger, actor, userAgent }: ClaimedClientOptions): KubeClient {
  const transport: Transport = {
    send: async (request) => {
      const sentMs = ledger.nowMs
      const response = await withoutAmbient(() => cluster.handle(request))
      if (request.method === 'GET') return response
      const chunks: Uint8Array[] = []
      for await (const chunk of response.body) chunks.push(chunk)
      const content = Buffer.concat(chunks)
      ledger.claim(actor, requestFacts(request), response.status, parsed(content), sentMs)
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

const MAX_CONFLICTS = 5

/**
 * Creates or replaces an object: what a user means by applying a file, whatever is there. Replaces everything but the
 * status; tries again when someone else writes meanwhile.
 */
export async function put(client: KubeClient, object: KubeObject & PlainObject): Promise<void> {
  const { name = '', namespace } = object.metadata
  const resource = await client.resourceFor(object)
  const key = { name, ...(namespace !== undefined && { namespace }) }
  for (let attempt = 0; ; attempt++) {
    try {
      const live = await client.get(resource, key)
      const { resourceVersion } = live.metadata
      const { status } = live as KubeObject & { readonly status?: unknown }
      const replaced = { ...object, metadata: { ...live.metadata, ...object.metadata, resourceVersion } }
      await client.update(resource, (status === undefined ? replaced : { ...replaced, status }) as KubeObject)
      return
    } catch (error) {
      if (isNotFound(error)) {
        await client.create(resource, { ...object, apiVersion: apiVersionOf(resource) })
        return
      }
      if (!isConflict(error) || attempt >= MAX_CONFLICTS) throw error
    }
  }
}
