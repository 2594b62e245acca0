/** A TLS webhook on a free loopback port, for tests. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { CertificateAuthority } from '../../auth/certificates.ts'
import { isJsonObject, type JsonObject } from '../../json.ts'

/** A running webhook. */
export interface WebhookServer extends AsyncDisposable {
  readonly port: number
  /** The certificate authority in base64, for a `caBundle`. */
  readonly caBundle: string
  /** Received requests, in order. */
  readonly requests: { readonly url: string; readonly review: JsonObject }[]
}

/** Returns the response to a review; may write to the response itself and return `undefined`. */
export type Respond = (review: JsonObject, response: ServerResponse) => unknown

/** Starts a webhook whose certificate is for `hosts`. */
export async function startWebhookServer(hosts: readonly string[], onReview: Respond): Promise<WebhookServer> {
  const authority = CertificateAuthority.create('webhook test')
  const pair = authority.issueServer({ hosts })
  const requests: { url: string; review: JsonObject }[] = []
  const server = createServer({ key: pair.privateKey, cert: pair.certificate }, (request, response) => {
    void handle(request, response)
  })
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const review: unknown = JSON.parse(Buffer.concat(chunks).toString())
    if (!isJsonObject(review)) throw new Error('not a review')
    requests.push({ url: request.url ?? '', review })
    const body = onReview(review, response)
    if (body !== undefined) response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    port: address.port,
    caBundle: Buffer.from(authority.certificate).toString('base64'),
    requests,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

/** The uid of a review's request. */
function uidOf(review: JsonObject): string {
  const { request } = review
  return isJsonObject(request) ? String(request.uid) : ''
}

/** A response that echoes the uid, with additional fields. */
export function respond(review: JsonObject, response: JsonObject): JsonObject {
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid: uidOf(review), ...response } }
}
