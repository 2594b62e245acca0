/** An HTTP server on this machine whose requests go through a transport: how a process reaches the cluster of its run. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Transport, TransportRequest, TransportResponse } from '@reeve/http'

/** Larger than any object that a server stores. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Of one connection only, or of none: they must not be passed on. */
const HOP_BY_HOP: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

/**
 * Listens on loopback without TLS: nothing but the process of one run knows the port.
 *
 * @example
 * await using front = await HttpFront.start(place.transport)
 * const server = `http://127.0.0.1:${front.port}`
 */
export class HttpFront implements AsyncDisposable {
  readonly #server: Server
  readonly port: number

  private constructor(server: Server) {
    this.#server = server
    // It listens on a port, not on a path.
    this.port = (server.address() as AddressInfo).port
  }

  static async start(transport: Transport): Promise<HttpFront> {
    const server = createServer((request, response) => {
      // Whatever fails here breaks the connection, as a fault is meant to.
      handle(transport, request, response).catch(() => response.destroy())
    })
    // Upgrades are for exec and port forwarding, of which no fault is known.
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'))
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, '127.0.0.1', resolve)
    })
    return new HttpFront(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

async function handle(transport: Transport, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = request
  if (!METHODS.has(method)) {
    response.writeHead(405).end()
    return
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the client has gone')))
  const body = await read(request)
  const passed: TransportRequest = {
    // Checked above.
    method: method as TransportRequest['method'],
    path: url,
    headers: headersOf(request),
    signal: gone.signal,
    ...(body.length > 0 && { body }),
  }
  await reply(await transport.send(passed), response)
}

async function reply({ status, headers, body }: TransportResponse, response: ServerResponse): Promise<void> {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_BY_HOP.has(name)) response.setHeader(name, value)
  response.writeHead(status)
  // A watch has nothing to send at first, and its client waits for the headers.
  response.flushHeaders()
  for await (const chunk of body) {
    if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    if (response.destroyed) return
  }
  response.end()
}

async function read(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new RangeError(`a request has more than ${MAX_BODY_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function headersOf(request: IncomingMessage): Record<string, string> {
  const headers = Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name))
  return Object.fromEntries(
    headers.map(([name, value = '']) => [name, typeof value === 'string' ? value : value.join(', ')]),
  )
}
