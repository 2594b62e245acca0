/** A plain HTTPS client for the tests of the simulator: no retries, no redirects, a connection per call. */
import { type RequestOptions, request } from 'node:https'
import type { TenantSimulator } from '../../../src/tenant/simulator/index.ts'

/** A response. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON, for assertions. */
  json(): unknown
}

/** What to send. */
export interface SendOptions extends Pick<RequestOptions, 'headers' | 'ca' | 'rejectUnauthorized' | 'signal'> {
  readonly method?: string
  /** Objects are sent as JSON. */
  readonly body?: unknown
}

/** Sends a request to an address and reads the whole response. Trusts the simulator's authority. */
export function send(simulator: TenantSimulator, url: string, options: SendOptions = {}): Promise<Reply> {
  const { method = 'GET', body, headers, ...rest } = options
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        ca: simulator.caCertificate,
        agent: false,
        headers: {
          ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
        ...rest,
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const { statusCode: status = 0, headers: received } = incoming
          resolve({
            status,
            headers: received,
            bytes,
            text: bytes.toString(),
            json: () => JSON.parse(bytes.toString()),
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

/** Calls the API of a tenant with one of its tokens. */
export function callApi(
  simulator: TenantSimulator,
  path: string,
  options: SendOptions & { readonly tenant?: string; readonly token?: string } = {},
): Promise<Reply> {
  const { tenant = 'abc12345', token = 'apiToken', headers, ...rest } = options
  const value = simulator.tenant(tenant).tokens.get(token)?.value ?? token
  return send(simulator, `${simulator.url(tenant)}${path}`, {
    headers: { authorization: `Api-Token ${value}`, ...headers },
    ...rest,
  })
}
