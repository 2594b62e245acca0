/** What serves the ports of simulated pods: an address on this machine, or responses in an annotation. */
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { isJsonObject } from '../json.ts'
import type { PodPorts } from '../rest/server-context.ts'
import type { Pod } from './kinds/pods.ts'
import { asObject } from './resource-client.ts'

/** The annotation: a JSON object from port to the body of every response, or to an object from path to body. */
const HTTP_ANNOTATION = 'simulator.reeve.dev/http'

/** A port of a pod. */
export interface PodPort {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly port: number
}

/** Where a port of a pod is served on this machine; `undefined` if it is not. */
export type ResolvePodPort = (port: PodPort) => { readonly host?: string; readonly port: number } | undefined

/** The ports of simulated pods. A resolved port is preferred to one of the annotation. */
export function createPodPorts(resolve: ResolvePodPort | undefined): PodPorts {
  return (object) => {
    const { metadata } = asObject<Pod>(object)
    const responses = annotatedResponses(metadata.annotations?.[HTTP_ANNOTATION])
    if (resolve === undefined && responses.size === 0) return undefined
    const { namespace = '', name, labels = {} } = metadata
    return (port) => {
      const address = resolve?.({ namespace, name, labels, port })
      if (address !== undefined) return connect({ host: address.host ?? '127.0.0.1', port: address.port })
      const response = responses.get(port)
      return response === undefined ? undefined : serveHttp(response)
    }
  }
}

type Responses = string | ReadonlyMap<string, string>

function annotatedResponses(annotation: string | undefined): ReadonlyMap<number, Responses> {
  const parsed = parse(annotation)
  const entries = Object.entries(isJsonObject(parsed) ? parsed : {}).flatMap(([port, value]): [number, Responses][] => {
    if (typeof value === 'string') return [[Number(port), value]]
    const paths = Object.entries(isJsonObject(value) ? value : {})
    return [[Number(port), new Map(paths.map(([path, body]) => [path, String(body)]))]]
  })
  return new Map(entries)
}

function parse(annotation: string | undefined): unknown {
  try {
    return JSON.parse(annotation ?? '{}')
  } catch {
    // An unreadable annotation serves nothing, which the error of the client says.
    return undefined
  }
}

/** One connection to an HTTP server that only exists for it. */
function serveHttp(responses: Responses): Duplex {
  const [client, server] = duplexPair()
  const respond: RequestListener = (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*/, '')
    const body = typeof responses === 'string' ? responses : responses.get(path)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(body ?? `nothing is served at ${path}\n`)
  }
  // Imported for the first connection: few clusters serve ports. What the client sends until then is buffered.
  void import('node:http').then(({ createServer }) => createServer(respond).emit('connection', server))
  return client
}
