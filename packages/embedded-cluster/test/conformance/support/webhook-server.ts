/** TLS webhooks on a free loopback port, each with its own certificate. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509'
import type { Json } from './conformance-api.ts'

/** Returns the response to a review; may write to the response itself and return `undefined`. */
export type ReviewHandler = (review: Json, response: ServerResponse) => unknown

/** A running webhook. */
export interface WebhookServer extends AsyncDisposable {
  readonly url: string
  /** The certificate in base64, for a `caBundle`. */
  readonly caBundle: string
  /** Received reviews, in order, each with its path. */
  readonly calls: { readonly path: string; readonly review: Json }[]
}

/** Starts a webhook that responds with JSON, or with text unchanged. */
export async function startWebhook(onReview: ReviewHandler): Promise<WebhookServer> {
  const { certificate, key } = await selfSigned()
  const calls: { path: string; review: Json }[] = []
  const server = createServer({ cert: certificate, key }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk)
    const review = JSON.parse(Buffer.concat(chunks).toString())
    calls.push({ path: request.url ?? '', review })
    const body = onReview(review, response)
    if (body !== undefined) response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const listening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the webhook has no port')
  return {
    url: `https://127.0.0.1:${address.port}`,
    caBundle: Buffer.from(certificate).toString('base64'),
    calls,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>()
      server.close(() => closed.resolve())
      server.closeAllConnections()
      await closed.promise
    },
  }
}

async function selfSigned(): Promise<{ certificate: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const hour = 60 * 60 * 1000
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=webhook',
    notBefore: new Date(Date.now() - hour),
    notAfter: new Date(Date.now() + 24 * hour),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  })
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    certificate: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  }
}
