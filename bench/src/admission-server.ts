/** A server process of the admission benchmark: the operator's webhooks, or Node alone with a constant answer. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { convertRoute, type DynaKube, IgnoredNamespacePatterns, parseModules, validationRoutes } from '@reeve/dynatrace'
import { CertificateHolder, issueAuthority, issueServing } from '@reeve/runtime/certificates'
import { WebhookRouter, WebhookServer } from '@reeve/runtime/webhooks'

/** What the process says when it listens. */
export interface ServerReady {
  readonly port: number
  /** PEM of the authority behind its certificate. */
  readonly authority: string
}

const HOST = '127.0.0.1'
const NEIGHBOURS = 5
const NAMESPACES = 50

/** `answerBytes` is the size of the constant answer; without it the webhooks are served. */
async function main(answerBytes: number | undefined): Promise<void> {
  const validity = { nowMs: Date.now(), validityMs: 86_400_000 }
  const authority = await issueAuthority('bench', validity)
  const serving = await issueServing(authority, [HOST], validity)
  const port = answerBytes === undefined ? await serveWebhooks(serving) : await serveConstant(serving, answerBytes)
  const ready: ServerReady = { port, authority: authority.certificate }
  process.send?.(ready)
}

type Serving = Awaited<ReturnType<typeof issueServing>>

async function serveWebhooks(serving: Serving): Promise<number> {
  const routes = [...validationRoutes(() => lookups), convertRoute()]
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

/** A cluster in memory: what look-ups cost is the API server's affair. */
const lookups = {
  ignoredNamespaces: new IgnoredNamespacePatterns(),
  modules: parseModules(undefined),
  readSecret: async () => undefined,
  hasIstio: async () => true,
  listDynaKubes: async () => Array.from({ length: NEIGHBOURS }, (_, index) => neighbour(index)),
  listNamespaces: async () =>
    Array.from({ length: NAMESPACES }, (_, index) => ({ name: `team-${index}`, labels: { team: `${index}` } })),
}

function neighbour(index: number): DynaKube {
  const selector = { matchLabels: { team: `other-${index}` } }
  return {
    apiVersion: 'dynatrace.com/v1beta6',
    kind: 'DynaKube',
    metadata: { namespace: 'dynatrace', name: `neighbour-${index}` },
    spec: {
      apiUrl: `https://neighbour${index}.live.dynatrace.com/api`,
      oneAgent: { applicationMonitoring: { namespaceSelector: selector } },
    },
  }
}

const [bytes] = process.argv.slice(2)
await main(bytes === undefined ? undefined : Number(bytes))
