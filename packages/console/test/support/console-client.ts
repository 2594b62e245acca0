/** A console that listens, and requests to it as a browser or a script makes them. */
import { type IncomingHttpHeaders, request } from 'node:http'
import { type ConsoleModel, ConsoleServer, type ConsoleServerOptions, type PageFiles } from '../../src/index.ts'

/** The page does not matter to most tests. */
const PAGE: PageFiles = new Map([
  ['/index.html', { contentType: 'text/html', body: Buffer.from('<!doctype html>'), isImmutable: false }],
])

/** A response. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What to send besides the path. */
export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A running console. */
export interface OpenedConsole extends AsyncDisposable {
  readonly port: number
  readonly token: string
  readonly server: ConsoleServer
  /** Without credentials. */
  send(path: string, sent?: Sent): Promise<Reply>
  /** With the token of the link. */
  get(path: string): Promise<Reply>
}

/** Starts the console of a model. */
export async function openTestConsole(
  model: ConsoleModel,
  options: Pick<ConsoleServerOptions, 'access' | 'clock'> = {},
): Promise<OpenedConsole> {
  const server = new ConsoleServer({ model, page: PAGE, ...options })
  const stop = new AbortController()
  const running = server.run(stop.signal)
  const { port } = await server.address()
  const token = /#token=(.+)$/.exec(await server.link())?.[1] ?? ''
  const send = (path: string, { method = 'GET', headers = {}, body }: Sent = {}) =>
    new Promise<Reply>((resolve, reject) => {
      const json = body === undefined ? {} : { 'content-type': 'application/json' }
      const options = { host: '127.0.0.1', port, path, method, headers: { ...json, ...headers } }
      const sending = request(options, async (response) => {
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += chunk
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
      })
      sending.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
    })
  return {
    port,
    token,
    server,
    send,
    get: (path) => send(path, { headers: { authorization: `Bearer ${token}` } }),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}
