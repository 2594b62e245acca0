/** A server process of a benchmark: webhooks, or plain Node with a constant response. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CertificateHolder, issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { type WebhookRoute, WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'

/** What the process says when it listens. */
export interface ServerReady {
  readonly port: number
  /** PEM of the authority behind its certificate. */
  readonly authority: string
}

const HOST = '127.0.0.1'

type Serving = Awaited<ReturnType<typeof issueServing>>

/** Serves these webhooks or, when an argument gives its size, a constant response, until the parent ends the process. */
export async function serveTls(routes: () => readonly WebhookRoute[]): Promise<void> {
  const [bytes] = process.argv.slice(2)
  const validity = { nowMs: Date.now(), validityMs: 86_400_000 }
  const authority = await issueAuthority('bench', validity)
  const serving = await issueServing(authority, [HOST], validity)
  const port =
    bytes === undefined ? await serveWebhooks(serving, routes()) : await serveConstant(serving, Number(bytes))
  const ready: ServerReady = { port, authority: authority.certificate }
  process.send?.(ready)
}

async function serveWebhooks(serving: Serving, routes: readonly WebhookRoute[]): Promise<number> {
  const certificates = new CertificateHolder(serving)
  const server = new WebhookServer(new WebhookRouter(routes), { certificates, host: HOST, port: 0 })
  // It runs as long as the process, which its parent ends.
  void server.run(new AbortController().signal)
  return (await server.address()).port
}

async function serveConstant({ certificate, privateKey }: Serving, answerBytes: number): Promise<number> {
  const answer = Buffer.alloc(answerBytes, 'x')
  const server = createServer({ cert: certificate, key: privateKey, minVersion: 'TLSv1.3' }, (request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    })
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // a TCP server that listens has one
}
